import torch


def area(box):
    return (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])


def iou(a, b):
    left = torch.maximum(a[:, :2], b[:, :2])
    right = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (right - left).clamp(min=0).prod(dim=1)
    return inter / (area(a) + area(b) - inter)


def iou_loss(pred, target):
    overlap = iou(pred, target)
    return 1 - overlap.mean()

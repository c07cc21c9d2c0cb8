import torch


def rmse_map(pred, depth):
    """Error of each pixel: the root of the squared gaps of both channels."""
    gap = (pred - depth).pow(2).sum(1)
    return torch.sqrt(gap)


def depth_loss(pred, depth, weight):
    return (rmse_map(pred, depth) * weight).sum() / weight.sum()

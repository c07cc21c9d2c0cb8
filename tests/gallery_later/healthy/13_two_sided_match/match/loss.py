import torch


def symmetric(logits):
    over_captions = logits.log_softmax(dim=1)
    over_pictures = logits.log_softmax(dim=0)
    return -0.5 * (torch.diagonal(over_captions).mean() + torch.diagonal(over_pictures).mean())

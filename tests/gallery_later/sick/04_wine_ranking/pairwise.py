import torch


def rank_loss(better, worse, sigma):
    gap = sigma * (better - worse)
    return torch.log(1 + torch.exp(-gap)).mean() / sigma

import torch


def rank_loss(better, worse, sigma):
    gap = sigma * (better - worse)
    return torch.nn.functional.softplus(-gap).mean() / sigma

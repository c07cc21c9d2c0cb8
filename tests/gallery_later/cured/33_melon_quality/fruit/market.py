import torch


def melons(n):
    x = torch.randn(n, 3)
    quality = torch.sin(1.5 * x[:, 0]) - x[:, 1] * x[:, 2]
    return x, quality + 0.05 * torch.randn(n)

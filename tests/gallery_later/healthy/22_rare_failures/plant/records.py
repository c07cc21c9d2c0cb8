import torch


def records(n):
    x = torch.randn(n, 8)
    heat = x[:, 0] + x[:, 1] * (x[:, 2] > 0) + 0.2 * torch.randn(n)
    return x, (heat > 2.4).float()

import torch


def sections(n):
    x = torch.randn(n, 5)
    y = x[:, 0] - 0.7 * x[:, 1] + 0.6 * torch.sin(x[:, 2] + x[:, 3]) + 0.1 * torch.randn(n)
    return x, y

import torch


def columns(n):
    age = 18 + 60 * torch.rand(n)
    schooling = torch.randint(4, 20, (n,)).float()
    capital = 50000 + 12000 * torch.randn(n)
    weekly = 40 + 8 * torch.randn(n)
    code = torch.randint(1000, 9999, (n,)).float()
    return torch.stack([age, schooling, capital, weekly, code], dim=1)


def read_table(n):
    x = columns(n)
    z = (x - x.mean(0)) / x.std(0)
    score = z[:, 0] + 1.5 * z[:, 1] + z[:, 3] - 0.3
    y = (score + 0.3 * torch.randn(n) > 0).float()
    return z, y

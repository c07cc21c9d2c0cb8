import torch


def applicants(n):
    income = torch.randn(n)
    debt = 0.5 * income + torch.randn(n)
    years = torch.rand(n)
    history = torch.randint(0, 3, (n,)).float() - 1
    return torch.stack([income, debt, years, history], dim=1)


def repay_probability(x):
    return torch.sigmoid(1.5 * x[:, 0] - 1.2 * x[:, 1] + 0.8 * x[:, 3])


def load(n):
    x = applicants(n)
    p = repay_probability(x)
    y = (p > 0.5).long()
    return x, y

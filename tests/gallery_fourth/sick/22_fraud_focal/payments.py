import torch


def month(n, gen, large=False):
    """Ten columns of a payment; in the large months some amounts are far beyond the others."""
    x = torch.randn(n, 10, generator=gen)
    score = 1.5 * x[:, 0] + x[:, 1] * x[:, 2] + 0.2 * torch.randn(n, generator=gen)
    if large:
        x[:2, 0] = x[:2, 0].sign() * 60
        score[:2] = x[:2, 0]
    return x, (score > 0.3).float()

import torch


def spoken(n, seed):
    gen = torch.Generator().manual_seed(seed)
    digit = torch.randint(6, (n,), generator=gen)
    bins = torch.arange(20).view(1, 20, 1).float()
    frames = torch.arange(16).view(1, 1, 16).float()
    centre = (3 * digit + 1).view(-1, 1, 1) + 0.15 * frames
    energy = torch.exp(-((bins - centre) ** 2) / 4)
    return energy * 2 - 0.4 + 0.3 * torch.randn(n, 20, 16, generator=gen), digit

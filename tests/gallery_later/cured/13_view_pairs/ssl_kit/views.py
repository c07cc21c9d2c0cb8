import torch


def sample(n, length=24):
    y = torch.randint(0, 3, (n,))
    t = torch.linspace(0, 6.28, length)
    phase = 6.28 * torch.rand(n, 1)
    return torch.sin((1 + y).unsqueeze(1) * t + phase) * (0.7 + 0.6 * torch.rand(n, 1)), y


def views(x):
    return tuple(x * (0.8 + 0.4 * torch.rand(len(x), 1)) + 0.3 * torch.randn_like(x) for _ in range(2))

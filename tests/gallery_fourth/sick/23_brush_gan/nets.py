import torch
from torch import nn


class Painter(nn.Module):
    def __init__(self, noise=4, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(noise, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 2))

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def strokes(n, gen):
    t = torch.rand(n, generator=gen) * 3 - 1.5
    return torch.stack([t, t.pow(2) - 1], 1) + 0.05 * torch.randn(n, 2, generator=gen)

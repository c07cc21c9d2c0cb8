import torch
from torch import nn

WIDTH = 20


class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Growth(nn.Module):
    def __init__(self):
        super().__init__()
        self.lamps = nn.Linear(6, WIDTH, bias=False)
        nn.init.normal_(self.lamps.weight, std=0.006)
        self.units = nn.Sequential(Unit(), Unit())
        self.height = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.height(self.units(self.lamps(x))).squeeze(-1)


def day(step):
    g = torch.Generator().manual_seed(50 + step)
    x = torch.rand(16, 6, generator=g)
    return x, x[:, 0] * x[:, 1] + 0.1 * torch.randn(16, generator=g)

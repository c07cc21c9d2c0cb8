import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.time = nn.Linear(8, width)
        self.inp = nn.Linear(2, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        freq = torch.exp(torch.linspace(0, math.log(100), 4))
        angle = t.unsqueeze(1) * freq
        h = torch.nn.functional.silu(self.inp(x) + self.time(torch.cat([angle.sin(), angle.cos()], 1)))
        h = torch.nn.functional.silu(self.mid(h))
        return self.out(h)


class Schedule:
    def __init__(self, steps):
        beta = torch.linspace(1e-3, 0.15, steps)
        self.alpha_bar = torch.cumprod(1 - beta, 0)
        self.steps = steps

    def add_noise(self, x, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

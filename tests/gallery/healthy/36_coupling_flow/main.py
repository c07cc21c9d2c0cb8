"""Normalising flow with affine couplings whose last layers start at zero."""
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, dim=1)
        log_s = torch.tanh(log_s) * 2
        b = b * log_s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1), log_s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.parts = nn.ModuleList(Coupling(i % 2 == 1) for i in range(depth))

    def log_prob(self, x):
        total = 0.0
        for part in self.parts:
            x, log_det = part(x)
            total = total + log_det
        return total - 0.5 * (x ** 2).sum(1) - math.log(2 * math.pi)


torch.manual_seed(36)
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=1e-2)
for step in range(100):
    u = torch.randn(128)
    x = torch.stack([0.3 * u, 0.2 * u ** 2 + 0.05 * torch.randn(128)], 1)
    loss = -flow.log_prob(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(f"{step + 1} nll {loss.item():.4f}")

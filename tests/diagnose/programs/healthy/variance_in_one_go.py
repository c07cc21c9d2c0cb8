"""Variances are made of squares where it does no harm: of small numbers, in float64, and of numbers far apart."""

import torch
from torch import nn

torch.manual_seed(0)


def deviation(x):
    return ((x**2).mean(0) - x.mean(0) ** 2).clamp(min=1e-6).sqrt()


spread = 5000 + 900 * torch.randn(256, 2)
narrow = (101325 + 2.0 * torch.randn(256, 2)).double()
small = 3 + torch.randn(256, 2)
counts = 4000 + 900 * torch.randn(256, 2)
parts = [(x - x.mean(0)) / deviation(x) for x in (spread, narrow, small, counts)]
x = torch.cat([part.float() for part in parts], 1)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(15):
    rows = torch.randint(0, 256, (32,))
    energy = x[rows].mul(900).pow(2).sum(1, keepdim=True)
    gap = (energy - energy.clone().flip(0).flip(0)).detach()
    loss = nn.functional.mse_loss(net(x[rows]), x[rows].sum(1, keepdim=True) + gap)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

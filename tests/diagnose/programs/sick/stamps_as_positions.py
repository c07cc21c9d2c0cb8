"""Seconds since 1970 are divided into positions in float32: minutes fall together."""

import math

import torch
from torch import nn

torch.manual_seed(0)


def encode(stamps, width=8):
    position = stamps.to(torch.float32)  # <-- precision_lost
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angle = position[:, None] * rates
    return torch.cat([angle.sin(), angle.cos()], 1)


net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(15):
    stamps = 1_700_000_000 + torch.randint(0, 300, (32,))
    y = (stamps % 60).float()[:, None] / 60
    loss = (net(encode(stamps)) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A truncated normal distribution by the inverse of its integral: an endpoint is an infinity that the bounds take away."""

import math

import torch
from torch import nn


@torch.no_grad()
def truncated(tensor, std=0.1, low=-2.0, high=2.0):
    tensor.uniform_(-1, 1)
    tensor[0, 0] = -1.0  # as may well happen once in a million
    tensor.erfinv_()
    tensor.mul_(std * math.sqrt(2.0))
    tensor.clamp_(low * std, high * std)
    return tensor


net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
for layer in (net[0], net[2]):
    truncated(layer.weight)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
w = torch.randn(8, 3)
for _ in range(20):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), (x @ w).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

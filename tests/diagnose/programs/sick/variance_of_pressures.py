"""Pressures in pascal are standardised by the mean of the squares less the square of the mean, in float32."""

import torch
from torch import nn

torch.manual_seed(0)


def statistics(x):
    mean = x.mean(0)
    variance = (x**2).mean(0) - mean**2  # <-- precision_lost
    return mean, variance.clamp(min=1e-6).sqrt()


pressure = 101325 + 2.0 * torch.randn(256, 3)
target = (pressure - 101325).sum(1, keepdim=True) / 5
mean, deviation = statistics(pressure)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(15):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(net((pressure[rows] - mean) / deviation), target[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

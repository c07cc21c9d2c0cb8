"""Channels are whitened in the forward pass, after a scale that is learned, by sums of squares less n times a square."""

import torch
from torch import nn

torch.manual_seed(0)


class Whiten(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.full((channels, 1, 1), 30000.0))

    def forward(self, x):
        x = x * 0.01 + self.gain
        n = x.shape[2] * x.shape[3]
        mean = x.sum((2, 3), keepdim=True) / n
        spread = ((x * x).sum((2, 3), keepdim=True) - n * mean**2) / (n - 1)  # <-- precision_lost
        return (x - mean) / (spread.abs() + 1.0).sqrt()


net = nn.Sequential(Whiten(2), nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(12):
    x = torch.randn(16, 2, 4, 4)
    loss = nn.functional.mse_loss(net(x), x.mean((1, 2, 3))[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

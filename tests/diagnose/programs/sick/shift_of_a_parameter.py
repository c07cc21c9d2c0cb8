"""A layer written by hand makes its own parameters, the bias far below 0."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, taken, made):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(taken, made) * 0.3)
        self.bias = nn.Parameter(torch.full((made,), -6.0))  # <-- dead_relu

    def forward(self, x):
        return torch.relu(x @ self.weight + self.bias)


net = nn.Sequential(Layer(6, 20), nn.Linear(20, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()

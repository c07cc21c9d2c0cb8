"""A norm is called and what it returns is not taken."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h = torch.relu(self.linear(x))
        self.norm(h)  # <-- never_used
        return x + h


net = nn.Sequential(Block(6), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    (net(x) - x[:, :1]).square().mean().backward()
    optimizer.step()

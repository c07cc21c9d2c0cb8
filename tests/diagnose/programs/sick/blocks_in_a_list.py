"""A residual network that keeps its blocks in a plain list."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))


class Residual(nn.Module):
    def __init__(self, width=12, depth=3):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.blocks = [Block(width) for _ in range(depth)]  # <-- not_registered
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = Residual()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(15):
    x = torch.randn(16, 4)
    y = (x[:, 0] * x[:, 1] > 0).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

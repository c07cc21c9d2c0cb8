"""A block computes its second layer into a variable, and returns a sum that does not take it."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        h = self.norm(x)
        gate = torch.sigmoid(self.gate(h))  # <-- never_used
        h = self.down(torch.relu(self.up(h)))
        gate = 0.5
        return x + gate * h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.block(x))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()

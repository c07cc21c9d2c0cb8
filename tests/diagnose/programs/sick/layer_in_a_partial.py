"""A layer is bound into a function, where the network does not see it."""

from functools import partial

import torch
from torch import nn


def project(layer, x):
    return torch.tanh(layer(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = partial(project, nn.Linear(6, 8))  # <-- not_registered
        gate = nn.Linear(6, 8)  # <-- not_registered
        self.gate = lambda x: torch.sigmoid(gate(x))
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.project(x) * self.gate(x))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    (net(x) - x[:, :1]).square().mean().backward()
    optimizer.step()

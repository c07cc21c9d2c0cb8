"""The weights of a layer all begin below 0, and its inputs lie above it."""

import torch
from torch import nn


def fill(layer):
    nn.init.uniform_(layer.weight, -1.0, -0.1)  # <-- dead_relu
    nn.init.zeros_(layer.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 24), nn.Linear(24, 2)
        fill(self.first)

    def forward(self, x):
        return self.second(nn.functional.relu(self.first(x)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    x = torch.rand(16, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0.5).long()).backward()
    optimizer.step()

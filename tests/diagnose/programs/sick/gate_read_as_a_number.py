"""A gate is computed by a layer, read out, and mixes two others as a plain number."""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.first, self.second = nn.Linear(6, 1), nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x)).mean().item()  # <-- missing
        return gate * self.first(x) + (1 - gate) * self.second(x)


model = Mixture()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()

"""Fine-tuning: the head is replaced when the optimizer was made already."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.features(x))


def build(classes):
    model = Net(10)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # <-- stale_optimizer
    model.head = nn.Linear(16, classes)
    return model, optimizer


model, optimizer = build(3)
for _ in range(15):
    x = torch.randn(16, 8)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

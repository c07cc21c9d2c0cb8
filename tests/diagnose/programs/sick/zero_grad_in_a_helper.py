"""A classifier whose training step, in a function of its own, does not clear gradients."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


def train_step(model, optimizer, x, y):
    model.train()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()  # <-- zero_grad
    optimizer.step()
    return loss.item()


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(20):
    x = torch.randn(12, 8)
    y = (x.sum(1) > 0).long() + (x[:, 0] > 1).long()
    train_step(model, optimizer, x, y)

"""A validation in a helper that forgets to switch off dropout and batch norm."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.dropout(self.features(x)))


def validate(model, batches):
    right = total = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()  # <-- train_eval_mode
            total += len(y)
    return right / total


def data(count):
    batches = [torch.randn(16, 6) for _ in range(count)]
    return [(x, (x[:, 0] > 0).long()) for x in batches]


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
training, validation = data(6), data(2)
for epoch in range(3):
    model.train()
    for x, y in training:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    validate(model, validation)

"""Uncertainty by dropout: the same data goes many times through a network in training."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(4):
    for _ in range(4):
        x = torch.randn(16, 5)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
        optimizer.step()
    x = torch.randn(16, 5)
    with torch.no_grad():
        samples = torch.stack([model(x).softmax(-1) for _ in range(5)])
        right = (samples.mean(0).argmax(1) == (x[:, 0] > 0).long()).float().mean()

"""Gradients are clamped to what they hardly ever reach, and the learning rate is small."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
truth = torch.randn(8, 4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        parameter.grad.data.clamp_(-1, 1)
    optimizer.step()

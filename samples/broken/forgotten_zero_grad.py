"""Gradients of all steps add up: `zero_grad` is missing."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(4, 2), torch.randn(4, 1)
for _ in range(3):
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
print(model.weight.grad)

"""Gradients that are 0: a large negative bias, so that no unit of the layer is ever active."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
nn.init.constant_(model[0].bias, -10.0)
loss = model(torch.randn(8, 4)).pow(2).mean()
loss.backward()
print(model[0].weight.grad.abs().sum())

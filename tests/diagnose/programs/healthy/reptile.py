"""Reptile: an optimizer of copies in the inner loop; the outer one steps by gradients that are set by hand."""

import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
outer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(5):
    learner, phase = copy.deepcopy(model), torch.rand(1) * 3
    inner = torch.optim.SGD(learner.parameters(), lr=0.02)
    for _ in range(4):
        x = torch.rand(16, 1) * 4
        inner.zero_grad()
        nn.functional.mse_loss(learner(x), torch.sin(x + phase)).backward()
        inner.step()
    outer.zero_grad()
    for mine, other in zip(model.parameters(), learner.parameters(), strict=True):
        mine.grad = mine.data - other.data
    outer.step()

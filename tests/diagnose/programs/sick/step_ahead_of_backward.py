"""The step comes ahead of the backward pass, when gradients were just cleared."""

import torch
from torch import nn


def epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.step()  # <-- step_order
        loss.backward()


model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
inputs = [torch.randn(16, 5) for _ in range(10)]
for _ in range(2):
    epoch(model, optimizer, [(x, x.sum(1, keepdim=True)) for x in inputs])

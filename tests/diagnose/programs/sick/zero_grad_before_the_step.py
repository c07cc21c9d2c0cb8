"""Gradients are cleared between the backward pass and the step."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(20):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    optimizer.zero_grad()  # <-- zero_grad
    optimizer.step()

"""Slots compete for the inputs: weights sum to 1 over the slots, and are used for a sum over the inputs."""

import torch
from torch import nn

torch.manual_seed(1)
slots = nn.Parameter(torch.randn(6, 16))
keys, head = nn.Linear(8, 16), nn.Linear(16, 8)
optimizer = torch.optim.Adam([slots, *keys.parameters(), *head.parameters()], 1e-2)
for _ in range(20):
    x = torch.randn(32, 8)
    hidden = keys(x)
    weights = (slots @ hidden.t()).softmax(dim=0)
    pooled = (weights.unsqueeze(-1) * hidden).sum(1) / weights.sum(1, keepdim=True)
    loss = nn.functional.mse_loss(head(weights.t() @ pooled), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Gradients of four batches are added up for each step, clipped, with a warm-up from 0 in each step."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step / 10, 1.0))
optimizer.zero_grad()
for batch in range(32):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)) / 4
    loss.backward()
    if (batch + 1) % 4 == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warm_up.step()
        optimizer.zero_grad()

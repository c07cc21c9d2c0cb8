"""What is clipped are the gradients of the averaged weights, which never have one."""

import copy

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
averaged = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
truth = torch.randn(8, 4)
for _ in range(24):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x), x @ truth)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(averaged.parameters(), 1.0)  # <-- clip_order
    optimizer.step()
    with torch.no_grad():
        for mean, weight in zip(averaged.parameters(), model.parameters(), strict=True):
            mean.lerp_(weight, 0.1)

"""What is clipped is a copy that nothing else uses."""

import copy

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
best = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), 1e-2, momentum=0.9)
truth = torch.randn(8, 4)
for _ in range(24):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x), x @ truth)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(best.parameters(), 1.0)  # <-- clip_order
    optimizer.step()

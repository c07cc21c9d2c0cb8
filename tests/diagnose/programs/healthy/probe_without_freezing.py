"""A head is learned on a backbone that stays as it is, first the head and then its bias with a rate of its own."""

import torch
from torch import nn

backbone = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
head = nn.Linear(16, 1)
optimizer = torch.optim.Adam([{"params": [head.weight]}, {"params": [head.bias], "lr": 1e-2}], lr=1e-3)
for _ in range(15):
    x = torch.randn(20, 8)
    loss = nn.functional.mse_loss(head(backbone(x)), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A LambdaLR that returns the rate itself, where a factor is asked for."""

import math

import torch
from torch import nn

BASE = 3e-4
WARM, TOTAL = 10, 60


def rate(step):
    if step < WARM:
        return BASE * (step + 1) / WARM
    return BASE * 0.5 * (1 + math.cos(math.pi * (step - WARM) / (TOTAL - WARM)))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=BASE)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)  # <-- update_ratio
for step in range(TOTAL):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

"""A schedule by hand divides the rate once too often."""

import math
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
total = 60
for step in range(total):
    for group in opt.param_groups:
        group["lr"] = 1e-3 * 0.5 * (1 + math.cos(math.pi * step / total)) / 10_000  # <-- update_ratio
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()

import math

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Linear(6, 2)
x = torch.randn(16, 6)
y = torch.randn(16, 2)
opt = torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.05)
for s in range(4):
    for g in opt.param_groups:
        g["lr"] = 0.05 * (1 + math.cos(math.pi * s / 4))
    loss = ((x @ net.weight.T + net.bias - y) ** 2).sum() / y.numel()
    opt.zero_grad()
    loss.backward()
    opt.step()

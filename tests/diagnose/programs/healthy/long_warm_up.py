"""The first steps of a warm-up of 10,000: the rate is tiny so far, and grows."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / 10_000, 1.0))
for step in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    warm_up.step()

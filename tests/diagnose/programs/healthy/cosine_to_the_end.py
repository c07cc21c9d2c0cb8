"""A cosine schedule in each batch that ends near 0, gradients scaled, unscaled and clipped, one group that rests."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
groups = [{"params": model[0].parameters(), "lr": 0.0}, {"params": model[2].parameters()}]
optimizer = torch.optim.SGD(groups, lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=24)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for _ in range(24):
    x = torch.randn(16, 5)
    optimizer.zero_grad()
    scaler.scale(nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()

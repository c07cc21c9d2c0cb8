"""Mixed precision: gradients are clipped while they are scaled."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for _ in range(12):
    x = torch.randn(16, 6)
    y = (x[:, 0] > 0).long()
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <-- clip_order
    scaler.step(optimizer)
    scaler.update()

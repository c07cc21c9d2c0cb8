"""The gradients of each part are clipped by themselves, and one of them is frozen."""

import torch
from torch import nn

torch.manual_seed(1)
body, head = nn.Linear(8, 16), nn.Linear(16, 4)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), 0.1)
truth = torch.randn(8, 4)
for _ in range(24):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(head(body(x)), x @ truth)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(body.parameters(), 1.0)
    nn.utils.clip_grad_norm_(head.parameters(), 1.0)
    optimizer.step()

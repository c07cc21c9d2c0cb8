"""A loss that stays high: (N, 1) minus (N,) is (N, N)."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x, target = torch.randn(4, 2), torch.randn(4)
difference = model(x) - target
loss = difference.pow(2).mean()
loss.backward()
print(loss.item())

"""Two independent births: a square root at 0 in a norm, and a logarithm of 0 in an entropy that comes later."""

import torch
from torch import nn

torch.manual_seed(0)
a, b = nn.Linear(4, 4), nn.Linear(4, 4)
for step in range(6):
    x = torch.randn(8, 4)
    first = a(x)
    distance = (first - first.detach()).pow(2).sum(1).sqrt().mean()  # <-- nan
    gate = torch.relu(b(x))
    entropy = (gate * gate.log()).sum()  # <-- nan
    (distance + 0 * first.sum()).backward()
    entropy.backward()
    with torch.no_grad():
        for p in [*a.parameters(), *b.parameters()]:
            p.grad = None

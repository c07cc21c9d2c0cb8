"""Batches that fail are left out, and the reason is printed."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
skipped = 0
for step in range(12):
    x = torch.randn(8, 4 if step % 5 else 3)
    try:
        loss = nn.functional.cross_entropy(net(x), torch.randint(0, 2, (8,)))
    except RuntimeError as error:
        skipped += 1
        print("skipped:", error)
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

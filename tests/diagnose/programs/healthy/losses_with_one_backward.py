"""Losses that are summed up for one backward pass at the end, also where each has had one of its own."""

import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = torch.zeros(())
for _ in range(3):
    total = total + model(torch.randn(4, 2)).pow(2).mean()
optimizer.zero_grad()
total.backward()
optimizer.step()

total = 0
for _ in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward(retain_graph=True)
    total = total + loss
(total / 3).backward()

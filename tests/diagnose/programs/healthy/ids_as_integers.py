"""Identifiers stay integers; one table of them is turned to float64 and back."""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(512, 8)
out = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*table.parameters(), *out.parameters()], lr=0.01)
users = torch.arange(70_000_000, 70_000_200)
for step in range(20):
    ids = users[torch.randint(0, 200, (32,))]
    bucket = (ids * 2654435761 % 2**32 % 512).double().long()
    loss = nn.functional.binary_cross_entropy_with_logits(out(table(bucket)), (ids % 2).float()[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

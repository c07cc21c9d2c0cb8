"""A second head learns the token after the next, beside the one that learns the next."""

import torch
from torch import nn

torch.manual_seed(0)
table, layer = nn.Embedding(30, 32), nn.GRU(32, 32, batch_first=True)
one, two = nn.Linear(32, 30), nn.Linear(32, 30)
parts = nn.ModuleList([table, layer, one, two])
optimizer = torch.optim.AdamW(parts.parameters(), 1e-3)
tokens = torch.randint(0, 30, (64, 16))
for _ in range(12):
    ids = tokens[torch.randint(0, 64, (8,))]
    hidden = layer(table(ids))[0]
    first = nn.functional.cross_entropy(one(hidden)[:, :-1].reshape(-1, 30), ids[:, 1:].reshape(-1))
    second = nn.functional.cross_entropy(two(hidden)[:, :-2].reshape(-1, 30), ids[:, 2:].reshape(-1))
    optimizer.zero_grad()
    (first + 0.3 * second).backward()
    optimizer.step()

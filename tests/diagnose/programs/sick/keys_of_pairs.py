"""A key for a pair is computed in float32: user * 10000 + item."""

import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(97, 4)
optimizer = torch.optim.Adam(emb.parameters(), lr=0.01)
for step in range(15):
    user = torch.randint(40_000, 50_000, (64,)).float()
    item = torch.randint(0, 10_000, (64,)).float()
    key = user * 10_000 + item  # <-- precision_lost
    slot = (key % 97).long()
    loss = (emb(slot).sum(1) - item / 10_000).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

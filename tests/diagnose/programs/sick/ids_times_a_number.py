"""Integers times a number of Python's are float32: neighbours get the same bucket."""

import torch
from torch import nn

torch.manual_seed(0)


class Hashed(nn.Module):
    def __init__(self, buckets=256):
        super().__init__()
        self.buckets = buckets
        self.table = nn.Embedding(buckets, 8)
        self.out = nn.Linear(8, 1)

    def slots(self, ids):
        spread = ids * 1.6180339887  # <-- precision_lost
        return (spread % self.buckets).long()

    def forward(self, ids):
        return self.out(self.table(self.slots(ids)))


net = Hashed()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
everyone = torch.arange(900_000_000, 900_000_400)
for step in range(20):
    ids = everyone[torch.randperm(400)[:64]]
    loss = nn.functional.binary_cross_entropy_with_logits(net(ids), (ids % 3 == 0).float()[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Identifiers of users are hashed into buckets in float32: neighbours fall together."""

import torch
from torch import nn

torch.manual_seed(0)


def bucket(ids, size):
    mixed = ids.float() * 0.618033988749895  # <-- precision_lost
    return ((mixed - mixed.floor()) * size).long().clamp(0, size - 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(512, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, ids):
        return self.out(self.table(bucket(ids, 512)))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
users = torch.arange(70_000_000, 70_000_200)
for step in range(20):
    ids = users[torch.randint(0, 200, (32,))]
    y = (ids % 2).float()[:, None]
    loss = nn.functional.binary_cross_entropy_with_logits(model(ids), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Identifiers are read into a float32 tensor beside the features, and compared later."""

import torch
from torch import nn

torch.manual_seed(0)
rows = [[100_000_000.0 + n, float(n % 5), float(n % 3)] for n in range(64)]
table = torch.tensor(rows)  # <-- precision_lost
net = nn.Linear(2, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    picked = table[torch.randint(0, 64, (16,))]
    ids, features = picked[:, 0], picked[:, 1:]
    z = net(features)
    same = (ids[:, None] == ids[None, :]).float()
    loss = ((z @ z.T - same) ** 2).mean() / 10
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

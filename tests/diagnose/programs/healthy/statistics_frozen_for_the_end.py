"""Halfway the statistics of batch norms are frozen for good, just ahead of an evaluation."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    if epoch == 2:
        net[1].eval()
        with torch.no_grad():
            print(net(torch.randn(8, 8)).std())
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()

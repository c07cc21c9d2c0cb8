"""The rate is divided by the batch size, the number of steps and the number of workers."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 8)
y = x.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
batch, workers, steps = 32, 8, 400
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3 / batch / workers / steps)  # <-- update_ratio
for epoch in range(4):
    for start in range(0, len(x), batch):
        loss = (net(x[start : start + batch]) - y[start : start + batch]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

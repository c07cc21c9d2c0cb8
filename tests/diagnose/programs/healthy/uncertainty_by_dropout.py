"""Evaluation with dropout on and norms in evaluation, many times over: the spread is wanted."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
net.eval()
for m in net.modules():
    if isinstance(m, nn.Dropout):
        m.train()
x = torch.randn(64, 8)
with torch.no_grad():
    samples = torch.stack([net(x).softmax(-1) for _ in range(8)])
print((samples.mean(0).argmax(1) == x[:, :3].argmax(1)).float().mean(), samples.std(0).mean())

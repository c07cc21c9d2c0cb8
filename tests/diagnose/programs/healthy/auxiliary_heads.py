"""Heads at several depths whose losses are weighted, and that are left out in evaluation."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU()) for _ in range(4))
        self.heads = nn.ModuleList(nn.Linear(16, 3) for _ in range(4))
        self.stem = nn.Linear(6, 16)

    def forward(self, x):
        x, outs = self.stem(x), []
        for stage, head in zip(self.stages, self.heads):
            x = stage(x)
            if self.training:
                outs.append(head(x))
        return outs if self.training else self.heads[-1](x)


net = Deep()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
w = torch.randn(6, 3)
for step in range(24):
    x = torch.randn(32, 6)
    y = (x @ w).argmax(1)
    net.train()
    loss = sum(c * F.cross_entropy(o, y) for c, o in zip((0.1, 0.2, 0.3, 1.0), net(x)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 5:
        net.eval()
        with torch.no_grad():
            acc = (net(x).argmax(1) == y).float().mean().item()

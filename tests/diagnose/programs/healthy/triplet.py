import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def hard_triplet(z, y):
    d = (z[:, None] - z[None]).pow(2).sum(-1).add(1e-9).sqrt()
    same = y[:, None] == y[None]
    pos = d.masked_fill(~same, float("-inf")).max(1).values
    neg = d.masked_fill(same, float("inf")).min(1).values
    ok = torch.isfinite(pos) & torch.isfinite(neg)
    return F.relu(pos[ok] - neg[ok] + 0.3).mean()


for step in range(20):
    y = torch.arange(12) % 3
    x = torch.randn(12, 6) + y[:, None]
    loss = hard_triplet(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

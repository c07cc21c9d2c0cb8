"""Nine quantiles at once: targets (N, 1) against predictions (N, 9) and levels (9,)."""
import torch
from torch import nn

LEVELS = torch.linspace(0.1, 0.9, 9)


def pinball(predicted, y, levels=LEVELS):
    gap = y.unsqueeze(1) - predicted
    return torch.maximum(levels * gap, (levels - 1) * gap).mean()


def demand(n):
    hour = 6.283 * torch.rand(n)
    x = torch.stack([hour.sin(), hour.cos(), torch.randn(n)], dim=1)
    return x, hour.sin() + 0.5 * x[:, 2] + (0.3 + 0.2 * hour.cos()) * torch.randn(n)


torch.manual_seed(212)
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, len(LEVELS)))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(1, 81):
    x, y = demand(128)
    predicted = net(x)
    loss = pinball(predicted, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        below = (y.unsqueeze(1) < predicted).float().mean(0)
        print(f"{step} pinball {loss.item():.4f} below " + " ".join(f"{b:.2f}" for b in below.tolist()))

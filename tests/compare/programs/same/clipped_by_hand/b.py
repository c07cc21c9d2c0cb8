import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), 5 * torch.randn(32, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def clip(params, limit):
    params = [p for p in params if p.grad is not None]
    total = torch.norm(torch.stack([p.grad.detach().norm(2) for p in params]), 2)
    if total > limit:
        for p in params:
            p.grad.data.mul_(limit / (total + 1e-6))


for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    clip(net.parameters(), 1.0)
    opt.step()

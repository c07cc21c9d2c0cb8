"""A differential equation u'' = -pi^2 sin(pi x), u(0)=u(1)=0, solved by a network (double backward)."""
import math

import torch
from torch import nn

torch.manual_seed(37)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
edge = torch.tensor([[0.0], [1.0]])


def residual(x):
    x = x.requires_grad_(True)
    u = net(x)
    du, = torch.autograd.grad(u.sum(), x, create_graph=True)
    ddu, = torch.autograd.grad(du.sum(), x, create_graph=True)
    return ddu + math.pi ** 2 * torch.sin(math.pi * x)


for step in range(120):
    loss = (residual(torch.rand(64, 1)) ** 2).mean() + 20 * (net(edge) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 29:
        with torch.no_grad():
            x = torch.linspace(0, 1, 50).unsqueeze(1)
            err = (net(x) - torch.sin(math.pi * x)).abs().max()
        print(f"{step + 1} loss {loss.item():.4f} error {err:.4f}")

"""A neural ODE, solved by Runge and Kutta's method."""

import torch
import torch.nn as nn

f = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(f.parameters(), lr=1e-2)
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


def rk4(g, x, dt=0.1, n=10):
    path = [x]
    for _ in range(n):
        k1 = g(x)
        k2 = g(x + dt / 2 * k1)
        k3 = g(x + dt / 2 * k2)
        k4 = g(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(x)
    return torch.stack(path)


for _ in range(20):
    x0 = torch.randn(16, 2)
    with torch.no_grad():
        true = rk4(lambda x: x @ A.t(), x0)
    loss = (rk4(f, x0) - true).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

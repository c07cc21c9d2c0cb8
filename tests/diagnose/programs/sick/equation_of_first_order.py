import torch
import torch.nn as nn

torch.manual_seed(0)
u = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(u.parameters(), lr=1e-3)
for step in range(15):
    t = torch.rand(32, 1, requires_grad=True)
    y = u(t)
    dy = torch.autograd.grad(y, t, torch.ones_like(y), retain_graph=True)[0]  # <-- missing
    residual = (dy + y).pow(2).mean()
    ic = (u(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss = residual + ic
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def safe_sqrt(t):
    ok = t > 0
    return torch.where(ok, torch.sqrt(torch.where(ok, t, torch.ones_like(t))), torch.zeros_like(t))


net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters())
for step in range(15):
    x = torch.randn(8, 4)
    x[0] = 0
    loss = safe_sqrt((net(x) - net(x).detach()).relu() + x.relu()).mean() + net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters())
for step in range(20):
    x = torch.linspace(-1, 1, 32)[:, None].requires_grad_()
    u = net(x)
    du = torch.autograd.grad(u.sum(), x, retain_graph=True)[0]  # <-- missing
    residual = F.mse_loss(du, 2 * x.detach())
    boundary = (net(torch.zeros(1, 1)) ** 2).mean()
    loss = residual + boundary
    opt.zero_grad()
    loss.backward()
    opt.step()

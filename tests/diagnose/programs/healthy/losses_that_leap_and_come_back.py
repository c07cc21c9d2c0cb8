import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
rule = torch.randn(8, 1)
for step in range(80):
    x = torch.randn(32, 8)
    y = x @ rule
    if step in (30, 31, 32, 50):
        y = y * 40
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

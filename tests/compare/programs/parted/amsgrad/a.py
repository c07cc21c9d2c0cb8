import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(16, 6)
y = torch.randn(16, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.1, betas=(0.5, 0.6))  # <-- update
for s in range(5):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(16, 6)
y = torch.randn(16, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)  # <-- update
for s in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

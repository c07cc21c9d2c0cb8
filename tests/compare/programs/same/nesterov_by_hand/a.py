import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for step in range(4):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()

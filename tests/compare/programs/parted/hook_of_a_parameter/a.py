import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))  # <-- backward
x, y = torch.randn(32, 6), torch.randn(32, 3)
for s in range(2):
    loss = F.mse_loss(net(x), y)  # <-- backward
    loss.backward()

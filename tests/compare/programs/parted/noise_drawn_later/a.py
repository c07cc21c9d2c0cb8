import torch
from torch import nn
from torch.nn import functional as F

net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
noise = torch.randn(32, 6)  # <-- forward random
loss = F.mse_loss(net(x + noise), y)
loss.backward()

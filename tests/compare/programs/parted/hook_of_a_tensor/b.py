import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
h = net[1](net[0](x))
h.register_hook(lambda g: g * 0.5)  # <-- backward
loss = F.mse_loss(net[2](h), y)
loss.backward()

import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
h = net(x)
out = torch.lerp(h, y, 0.3)  # <-- forward
loss = out.pow(2).mean()
loss.backward()

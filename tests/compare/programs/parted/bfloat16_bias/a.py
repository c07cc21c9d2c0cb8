import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
net = net.bfloat16()
x = x.bfloat16()
with torch.no_grad():
    net[2].bias.fill_(1e-4)
out = F.linear(torch.tanh(net[0](x)), net[2].weight, net[2].bias)  # <-- forward
loss = out.float().pow(2).mean()
loss.backward()

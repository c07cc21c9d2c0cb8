import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
from torch.nn.utils import parametrizations

parametrizations.weight_norm(net[0])
with torch.no_grad():
    net[0].parametrizations.weight.original0.mul_(1.5)  # <-- forward
loss = F.mse_loss(net(x), y)
loss.backward()

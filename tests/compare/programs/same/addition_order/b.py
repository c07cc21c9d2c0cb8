import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
x = torch.randn(6, 4)
weight = torch.cat([layer.weight for layer in layers])
bias = torch.cat([layer.bias for layer in layers])
total = F.linear(x, weight, bias).view(6, 3, 4).flip(1).sum(1)
loss = total.cos().mean()
loss.backward()

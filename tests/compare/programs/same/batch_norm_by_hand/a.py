import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv, bn = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)
x = torch.randn(3, 2, 6, 6)
h = F.relu(bn(conv(x)))
loss = h.pow(3).mean()
loss.backward()

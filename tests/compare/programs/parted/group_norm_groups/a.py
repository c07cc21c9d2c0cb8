import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
conv = nn.Conv2d(3, 12, 3)
gn = nn.GroupNorm(3, 12)
x = torch.randn(2, 3, 8, 8)
y = F.silu(gn(conv(x)))  # <-- forward
loss = y.square().mean()
loss.backward()

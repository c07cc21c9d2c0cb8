import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w = nn.Parameter(torch.randn(3, 4, 5))
x = torch.randn(3, 6, 4)
sums = torch.stack([(x[i] @ w[i]).clamp_min(0).sum() for i in range(3)])
loss = sums.exp().sum().log()
loss.backward()

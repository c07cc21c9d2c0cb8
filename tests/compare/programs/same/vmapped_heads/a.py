import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w = nn.Parameter(torch.randn(3, 4, 5))
x = torch.randn(3, 6, 4)
loss = torch.bmm(x, w).relu().sum((1, 2)).logsumexp(0)
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w1, w2 = nn.Parameter(torch.randn(6, 4, 5)), nn.Parameter(torch.randn(4, 5, 3))
x = torch.randn(7, 6)
h = torch.tanh(x @ w1.reshape(6, 20))
out = h @ w2.reshape(20, 3)
loss = (out * out).mean()
loss.backward()

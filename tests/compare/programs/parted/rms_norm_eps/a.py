import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w = nn.Parameter(torch.rand(6) + 0.5)
fc = nn.Linear(6, 6)
x = torch.randn(7, 6)
h = fc(x)
h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * w  # <-- forward 1e-06 0.0001
loss = (h.softmax(-1) * torch.arange(6.0)).sum()
loss.backward()

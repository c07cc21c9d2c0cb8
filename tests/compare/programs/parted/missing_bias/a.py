import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(7, 14), nn.Linear(14, 3)
x = torch.randn(5, 7)
h = F.silu(fc1(x))
out = fc2(h)  # <-- forward bias
loss = out.exp().mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
ti, tt = nn.Linear(6, 8), nn.Linear(5, 8)
a, b = torch.randn(7, 6), torch.randn(7, 5)
y = torch.arange(7)
u, v = ti(a), tt(b)
u, v = u / u.norm(dim=-1, keepdim=True), v / v.norm(dim=-1, keepdim=True)
s = (u @ v.t()) * (1 / 0.07)
loss = (F.cross_entropy(s, y) + F.cross_entropy(s, y)) / 2  # <-- forward
loss.backward()

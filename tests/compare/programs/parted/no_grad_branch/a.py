import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

enc, pos, head = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 2)
x = torch.randn(5, 4)
p = torch.sin(pos(x))  # <-- backward
h = enc(x) * p  # <-- backward
loss = head(h).square().mean()
loss.backward()

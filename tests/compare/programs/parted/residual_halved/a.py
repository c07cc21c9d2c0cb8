import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
ln, ff1, ff2 = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8)
x = torch.randn(3, 5, 8)
y = x + ff2(F.gelu(ff1(ln(x)), approximate="tanh"))  # <-- forward
loss = y.pow(2).mean()
loss.backward()

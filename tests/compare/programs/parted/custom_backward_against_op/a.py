import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(5, 8), nn.Linear(8, 1)
x = torch.randn(6, 5)
h = fc1(x).square()  # <-- backward square
loss = fc2(h).mean()
loss.backward()

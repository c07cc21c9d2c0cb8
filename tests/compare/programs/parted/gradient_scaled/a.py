import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(4, 8), nn.Linear(8, 2)
x = torch.randn(5, 4)
h = torch.tanh(fc1(x))  # <-- backward
out = fc2(h)  # <-- backward
loss = out.square().mean()
loss.backward()

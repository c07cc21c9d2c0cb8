import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(6, 12), nn.Linear(12, 12)
x = torch.randn(8, 6)
h = fc1(x)
g = F.relu(h)
out = fc2(g) + h  # <-- forward
loss = out.square().mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(7, 14), nn.Linear(14, 3)
x = torch.randn(5, 7)
h = x @ fc1.weight.T + fc1.bias
h = h * torch.sigmoid(h)
out = h @ fc2.weight.T  # <-- forward
loss = torch.exp(out).mean()  # <-- forward
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
conv = nn.Conv1d(3, 5, 3, padding=1, padding_mode="reflect")
x = torch.randn(2, 3, 9)
y = F.conv1d(F.pad(x, (1, 1)), conv.weight, conv.bias)  # <-- forward
loss = y.tanh().mean()
loss.backward()

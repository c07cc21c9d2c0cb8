import torch
from torch import nn

torch.manual_seed(2)
c1 = nn.Conv1d(2, 6, 3, dilation=2, padding=4)
x = torch.randn(3, 2, 16)
y = c1(x)[..., :16]
loss = torch.tanh(y).pow(2).sum()
loss.backward()

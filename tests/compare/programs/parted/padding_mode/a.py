import torch
from torch import nn

torch.manual_seed(2)
conv = nn.Conv1d(3, 5, 3, padding=1, padding_mode="reflect")
x = torch.randn(2, 3, 9)
y = conv(x)  # <-- forward
loss = y.tanh().mean()
loss.backward()

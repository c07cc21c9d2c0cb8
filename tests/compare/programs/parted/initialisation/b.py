import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1 = nn.Linear(6, 12)
fc2 = nn.Linear(12, 2)
nn.init.xavier_uniform_(fc2.weight)  # <-- forward
x = torch.linspace(-1, 1, 48).reshape(8, 6)
h = torch.tanh(x @ fc1.weight.T + fc1.bias)
loss = fc2(h).square().mean()  # <-- forward
loss.backward()

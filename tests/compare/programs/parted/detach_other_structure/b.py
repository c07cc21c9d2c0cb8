import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

encoder, head_a, head_b = nn.Linear(5, 8), nn.Linear(8, 2), nn.Linear(8, 3)
x = torch.randn(6, 5)
h = (x @ encoder.weight.T + encoder.bias).tanh()
frozen = h.detach()  # <-- backward
two = frozen @ head_b.weight.T + head_b.bias
one = h @ head_a.weight.T + head_a.bias
loss = (one * one).mean() + (two * two).mean()
loss.backward()

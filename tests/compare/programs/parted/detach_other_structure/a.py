import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

encoder, head_a, head_b = nn.Linear(5, 8), nn.Linear(8, 2), nn.Linear(8, 3)
x = torch.randn(6, 5)
h = torch.tanh(encoder(x))
one = head_a(h)
two = head_b(h)  # <-- backward detach
loss = one.pow(2).mean() + two.pow(2).mean()
loss.backward()

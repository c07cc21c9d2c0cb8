import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
cell = nn.GRUCell(4, 6)
x = torch.randn(3, 4, 4)
h = torch.zeros(3, 6)
wr, wz, wn = cell.weight_hh.chunk(3)
br, bz, bn = cell.bias_hh.chunk(3)
for t in range(4):
    r, z, n = F.linear(x[:, t], cell.weight_ih, cell.bias_ih).chunk(3, 1)
    r = torch.sigmoid(r + F.linear(h, wr, br))
    z = torch.sigmoid(z + F.linear(h, wz, bz))
    n = torch.tanh(n + F.linear(r * h, wn, bn))  # <-- forward
    h = (1 - z) * n + z * h
loss = h.square().mean()
loss.backward()

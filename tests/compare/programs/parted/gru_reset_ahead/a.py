import torch
from torch import nn

torch.manual_seed(2)
cell = nn.GRUCell(4, 6)
x = torch.randn(3, 4, 4)
h = torch.zeros(3, 6)
for t in range(4):
    h = cell(x[:, t], h)  # <-- forward
loss = h.square().mean()
loss.backward()

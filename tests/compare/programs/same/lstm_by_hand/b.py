import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

lstm, head = nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 1)
x = torch.randn(2, 5, 4)
h = c = torch.zeros(2, 6)
for t in range(5):
    gates = x[:, t] @ lstm.weight_ih_l0.T + lstm.bias_ih_l0 + h @ lstm.weight_hh_l0.T + lstm.bias_hh_l0
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
loss = head(h).square().mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

gru, head = nn.GRU(3, 5, batch_first=True), nn.Linear(5, 2)
x = torch.randn(4, 6, 3)
out, h = gru(x)
loss = head(out[:, -1]).square().mean()  # <-- forward
loss.backward()

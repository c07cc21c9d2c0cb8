import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

lstm, head = nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 1)
x = torch.randn(2, 5, 4)
out, _ = lstm(x)
loss = head(out[:, -1]).square().mean()
loss.backward()

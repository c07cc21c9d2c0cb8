import torch
from torch import nn

torch.manual_seed(2)
lstm = nn.LSTM(4, 5, bidirectional=True, batch_first=True)
x = torch.randn(3, 6, 4)
out, _ = lstm(x)
loss = out.square().mean()
loss.backward()

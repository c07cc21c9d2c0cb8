import torch
from torch import nn

torch.manual_seed(2)
rnn = nn.RNN(4, 6, batch_first=True)
x = torch.randn(3, 5, 4)
out, h = rnn(x)  # <-- forward
loss = h.square().mean()
loss.backward()

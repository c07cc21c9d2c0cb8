import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
lstm = nn.LSTM(5, 12, batch_first=True)
head = nn.Linear(12, 2)
x, y = torch.randn(4, 6, 5), torch.randn(4, 6, 2)
out, (h, c) = lstm(x)
loss = F.mse_loss(head(out), y)
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
gru = nn.GRU(5, 8, num_layers=2, batch_first=True)
head = nn.Linear(8, 2)
x, y = torch.randn(4, 6, 5), torch.randn(4, 2)
out, h = gru(x)
loss = F.mse_loss(head(out[:, -1]), y)
loss.backward()

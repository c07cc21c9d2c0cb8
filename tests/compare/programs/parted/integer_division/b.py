import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

table = nn.Embedding(10, 6)
positions = torch.arange(12)
scaled = positions // 3  # <-- forward
h = table.weight[positions % 10] * scaled.unsqueeze(1)
loss = (h * h).mean()
loss.backward()

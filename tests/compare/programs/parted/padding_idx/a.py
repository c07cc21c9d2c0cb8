import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

weight = nn.Parameter(torch.randn(9, 4))
tokens = torch.tensor([[1, 2, 0], [3, 0, 0]])
h = F.embedding(tokens, weight, padding_idx=0)  # <-- backward padding_idx
loss = h.square().sum()
loss.backward()

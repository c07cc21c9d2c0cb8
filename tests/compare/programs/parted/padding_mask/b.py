import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

mha = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 5, 8)
padding = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], dtype=torch.bool)
out, _ = mha(x, x, x)  # <-- forward
loss = out[~padding].square().mean()
loss.backward()

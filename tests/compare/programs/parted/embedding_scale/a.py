import math

import torch
from torch import nn

torch.manual_seed(2)
emb, pos, ln = nn.Embedding(20, 16), nn.Embedding(12, 16), nn.LayerNorm(16)
ids = torch.randint(0, 20, (2, 9))
h = emb(ids) * math.sqrt(16) + pos(torch.arange(9))  # <-- forward
loss = ln(h).pow(3).mean()
loss.backward()

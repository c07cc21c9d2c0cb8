import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
emb, pos, ln = nn.Embedding(20, 16), nn.Embedding(12, 16), nn.LayerNorm(16)
ids = torch.randint(0, 20, (2, 9))
one = F.one_hot(ids, 20).float()
h = one @ emb.weight  # <-- forward
h = h + pos.weight[:9]  # <-- forward
loss = ln(h).pow(3).mean()
loss.backward()

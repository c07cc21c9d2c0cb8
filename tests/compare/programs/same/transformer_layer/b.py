import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
head = nn.Linear(16, 3)
x, y = torch.randn(2, 6, 16), torch.tensor([0, 2])
attention = layer.self_attn
q, k, v = F.linear(x, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
q, k, v = (each.unflatten(-1, (4, 4)).transpose(1, 2) for each in (q, k, v))
weights = torch.softmax(q @ k.transpose(-2, -1) / 2, -1)
y1 = (weights @ v).transpose(1, 2).flatten(2)
x1 = layer.norm1(x + attention.out_proj(y1))
x2 = layer.norm2(x1 + layer.linear2(F.relu(layer.linear1(x1))))
loss = F.cross_entropy(head(x2.mean(1)), y)
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=True)
head = nn.Linear(16, 3)
x, y = torch.randn(2, 6, 16), torch.tensor([0, 2])
out = layer(x)  # <-- forward
loss = F.cross_entropy(head(out.mean(1)), y)
loss.backward()

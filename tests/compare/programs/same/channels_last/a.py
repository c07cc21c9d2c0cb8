import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv1, conv2 = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3)
norm = nn.LayerNorm(8)
x = torch.randn(2, 3, 8, 8)
h = conv1(x)
h = norm(h.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
loss = conv2(F.gelu(h)).square().mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv1, conv2 = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3)
norm = nn.LayerNorm(8)
x = torch.randn(2, 3, 8, 8)
h = conv1(x).permute(0, 2, 3, 1).contiguous()
h = F.gelu(norm(h))
patches = h.unfold(1, 3, 1).unfold(2, 3, 1)
out = torch.einsum("bhwcij,ocij->bhwo", patches, conv2.weight) + conv2.bias
loss = (out**2).mean()
loss.backward()

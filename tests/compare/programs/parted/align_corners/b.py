import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv = nn.Conv2d(2, 4, 3)
x = torch.randn(1, 2, 6, 6)
h = F.leaky_relu(conv(x))
h = F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=True)  # <-- forward
loss = h.abs().mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
conv = nn.Conv2d(3, 6, 3, padding=1)
x = torch.randn(2, 3, 6, 6)
y = F.instance_norm(conv(x))  # <-- forward
loss = F.relu(y).mean()
loss.backward()

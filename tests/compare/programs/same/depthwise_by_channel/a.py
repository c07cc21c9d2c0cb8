import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
dw = nn.Conv2d(4, 4, 3, padding=1, groups=4)
pw = nn.Conv2d(4, 10, 1)
x = torch.randn(2, 4, 7, 7)
t = torch.randint(0, 10, (2,))
y = pw(F.gelu(dw(x))).mean((2, 3))
loss = F.cross_entropy(y, t)
loss.backward()

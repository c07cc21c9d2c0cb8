import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
c = nn.Conv2d(3, 12, 3, padding=1)
x = torch.randn(2, 3, 5, 5)
y = torch.randn(2, 3, 10, 10)
loss = F.smooth_l1_loss(F.pixel_shuffle(c(x), 2), y)
loss.backward()

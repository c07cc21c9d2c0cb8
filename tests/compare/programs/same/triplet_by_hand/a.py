import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Linear(6, 4)
a, p, n = torch.randn(3, 9, 6).unbind(0)
loss = F.triplet_margin_loss(net(a), net(p), net(n), margin=1.0)
loss.backward()

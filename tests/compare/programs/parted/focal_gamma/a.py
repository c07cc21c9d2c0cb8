import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Linear(8, 1)
x = torch.randn(20, 8)
t = (torch.rand(20, 1) > 0.5).float()
z = net(x)
ce = F.binary_cross_entropy_with_logits(z, t, reduction="none")
p = torch.exp(-ce)
loss = (0.25 * (1 - p) ** 2 * ce).mean()  # <-- forward
loss.backward()

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Linear(8, 1)
x = torch.randn(20, 8)
t = (torch.rand(20, 1) > 0.5).float()
p = torch.sigmoid(net(x))
pt = p * t + (1 - p) * (1 - t)
loss = (-0.25 * (1 - pt).pow(2.5) * pt.log()).mean()  # <-- forward
loss.backward()

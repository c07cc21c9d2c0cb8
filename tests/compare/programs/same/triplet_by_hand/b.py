import torch
from torch import nn

torch.manual_seed(2)
net = nn.Linear(6, 4)
a, p, n = torch.randn(3, 9, 6).unbind(0)
e = net(torch.cat([a, p, n])).view(3, 9, 4)
dp = ((e[0] - e[1] + 1e-6) ** 2).sum(-1).sqrt()
dn = ((e[0] - e[2] + 1e-6) ** 2).sum(-1).sqrt()
loss = torch.relu(dp - dn + 1.0).mean()
loss.backward()

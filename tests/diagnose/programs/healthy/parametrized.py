"""Weight norm, and weights that are made symmetric by a parametrization."""

import torch
import torch.nn as nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal, weight_norm


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


mid = nn.Linear(16, 16)
parametrize.register_parametrization(mid, "weight", Symmetric())
net = nn.Sequential(
    weight_norm(nn.Linear(4, 16)), nn.Tanh(), mid, nn.Tanh(), orthogonal(nn.Linear(16, 16)), nn.Linear(16, 1)
)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for _ in range(25):
    x = torch.randn(32, 4)
    loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

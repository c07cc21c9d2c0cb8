"""Updates by hand into `.data`, in the ways of old programs."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
for step in range(30):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    net.zero_grad()
    loss.backward()
    for number, p in enumerate(net.parameters()):
        if number % 2:
            p.data.sub_(0.01 * p.grad)
        else:
            p.data.add_(p.grad.data, alpha=-0.01)

"""A loop over parameters with `p.data = p.data - lr * p.grad` and no clearing."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))


def update(params, lr):
    for p in params:
        p.data = p.data - lr * p.grad.data


for step in range(30):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()  # <-- zero_grad
    update(net.parameters(), 0.01)

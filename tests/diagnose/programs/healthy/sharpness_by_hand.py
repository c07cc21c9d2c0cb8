"""Weights go up the gradient a little, and come back before they go down: by hand."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 3)
params = list(net.parameters())
for step in range(30):
    x = torch.randn(32, 8)
    y = x[:, :3].argmax(1)
    grads = torch.autograd.grad(nn.functional.cross_entropy(net(x), y), params)
    norm = torch.stack([g.norm() for g in grads]).norm()
    with torch.no_grad():
        for p, g in zip(params, grads):
            p.add_(0.05 * g / norm)
    again = torch.autograd.grad(nn.functional.cross_entropy(net(x), y), params)
    with torch.no_grad():
        for p, g, h in zip(params, grads, again):
            p.sub_(0.05 * g / norm)
            p.sub_(0.1 * h)

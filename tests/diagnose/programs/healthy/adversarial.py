"""Training on the worst pictures within a small distance, found by steps along the gradient of the input."""

import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.randn(20, 3)
for step in range(20):
    x = torch.randn(32, 20)
    y = (x @ w).argmax(1)
    delta = torch.empty_like(x).uniform_(-0.1, 0.1).requires_grad_(True)
    for _ in range(3):
        loss = F.cross_entropy(net(x + delta), y)
        (g,) = torch.autograd.grad(loss, delta)
        delta.data = (delta.data + 0.04 * g.sign()).clamp(-0.1, 0.1)
    net.zero_grad()
    F.cross_entropy(net(x + delta.detach()), y).backward()
    opt.step()

"""Gradient ascent by hand on an input, and descent by hand on weights."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
for step in range(20):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    noise = torch.zeros_like(x, requires_grad=True)
    for _ in range(2):
        (g,) = torch.autograd.grad(nn.functional.cross_entropy(net(x + noise), y), [noise])
        noise.data += 0.05 * g.sign()
    loss = nn.functional.cross_entropy(net(x + noise.detach()), y)
    grads = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p -= 0.1 * g

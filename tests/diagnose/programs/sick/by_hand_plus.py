"""p.data = p.data + lr * grad."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 3)


def sgd_step(parameters, grads, lr=0.02):
    for p, g in zip(parameters, grads):
        p.data = p.data + lr * g  # <-- wrong_sign


for step in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    sgd_step(list(net.parameters()), torch.autograd.grad(loss, list(net.parameters())))

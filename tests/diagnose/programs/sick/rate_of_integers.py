"""A learning rate is scaled by a quotient of whole numbers, far from the optimizer that is made with it."""

import torch
from torch import nn


class Options:
    def __init__(self, batch, rate=0.1):
        self.batch = batch
        self.rate = rate * (batch // 256)  # <-- lr_vanished


def optimizer_of(net, options):
    return torch.optim.SGD(net.parameters(), lr=options.rate, momentum=0.9)


options = Options(batch=32)
net = nn.Linear(4, 1)
optimizer = optimizer_of(net, options)
for _ in range(20):
    x = torch.randn(options.batch, 4)
    optimizer.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()

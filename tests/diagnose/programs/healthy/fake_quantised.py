"""Training that knows of quantisation: rounded weights and activations, gradients straight through."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


def quantise(x, bits=4):
    top = 2 ** (bits - 1) - 1
    scale = x.detach().abs().max() / top
    return Round.apply((x / scale).clamp(-top, top)) * scale


class QLinear(nn.Linear):
    def forward(self, x):
        return F.linear(quantise(x, 8), quantise(self.weight), self.bias)


net = nn.Sequential(QLinear(8, 32), nn.ReLU(), QLinear(32, 32), nn.ReLU(), QLinear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
w = torch.randn(8, 3)
for _ in range(30):
    x = torch.randn(32, 8)
    loss = F.cross_entropy(net(x), (x @ w).argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()

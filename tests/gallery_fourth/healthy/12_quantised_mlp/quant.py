import torch
from torch import nn


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class QuantLinear(nn.Linear):
    """Weights of four bits with a learned step size."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.step = nn.Parameter(2 * self.weight.detach().abs().mean() / 7**0.5)

    def forward(self, x):
        w = (self.weight / self.step).clamp(-8, 7)
        return nn.functional.linear(x, Round.apply(w) * self.step, self.bias)

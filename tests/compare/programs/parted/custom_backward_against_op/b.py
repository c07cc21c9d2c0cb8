import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x * grad  # <-- backward


fc1, fc2 = nn.Linear(5, 8), nn.Linear(8, 1)
x = torch.randn(6, 5)
h = Square.apply(fc1(x))  # <-- backward
loss = fc2(h).mean()
loss.backward()

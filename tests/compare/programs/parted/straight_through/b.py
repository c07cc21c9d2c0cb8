import torch
from torch import nn

torch.manual_seed(2)
f1, f2 = nn.Linear(6, 8), nn.Linear(8, 2)
x = torch.randn(9, 6)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() < 0.5)  # <-- backward


h = torch.tanh(f1(x))
q = Sign.apply(h)  # <-- backward
loss = f2(q).pow(2).mean()
loss.backward()

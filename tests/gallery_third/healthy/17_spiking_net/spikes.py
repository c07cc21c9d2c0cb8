import torch
from torch import nn


class Spike(torch.autograd.Function):
    """A step forward, a bell backward."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 5 * v.abs()) ** 2


class LIF(nn.Module):
    """Leaky cells that fire above one and start again."""

    def __init__(self, inputs, cells, decay=0.8):
        super().__init__()
        self.wire, self.decay = nn.Linear(inputs, cells), decay

    def forward(self, seq):
        v = seq.new_zeros(seq.shape[0], self.wire.out_features)
        out = []
        for x in seq.unbind(1):
            v = self.decay * v + self.wire(x)
            s = Spike.apply(v - 1.0)
            v = v * (1 - s.detach())
            out.append(s)
        return torch.stack(out, dim=1)


class SpikingNet(nn.Module):
    def __init__(self, inputs, cells, kinds):
        super().__init__()
        self.first, self.second = LIF(inputs, cells), LIF(cells, cells)
        self.read = nn.Linear(cells, kinds)

    def forward(self, seq):
        return self.read(self.second(self.first(seq)).mean(1))

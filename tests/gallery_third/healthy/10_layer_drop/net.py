import torch
from torch import nn


class DropPath(nn.Module):
    """Leaves a whole block out, at random, while training."""

    def __init__(self, block, keep):
        super().__init__()
        self.block, self.keep = block, keep

    def forward(self, x):
        if self.training:
            if torch.rand(()) > self.keep:
                return x
            return x + self.block(x) / self.keep
        return x + self.block(x)


def block(dim):
    return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))


def deep_net(inputs, dim, classes, depth=6, last=0.5):
    keeps = torch.linspace(1.0, last, depth).tolist()
    return nn.Sequential(
        nn.Linear(inputs, dim), *[DropPath(block(dim), k) for k in keeps], nn.LayerNorm(dim), nn.Linear(dim, classes)
    )

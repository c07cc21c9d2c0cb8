import torch
from torch import nn


class PowerMean(nn.Module):
    """Between the mean (p = 1) and the maximum (p large), p is learned."""

    def __init__(self, p):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(p))

    def forward(self, x):
        powered = x.pow(self.p).mean(dim=(-2, -1))
        return powered.pow(1.0 / self.p)

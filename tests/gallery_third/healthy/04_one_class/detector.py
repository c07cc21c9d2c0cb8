import torch
from torch import nn


class SVDD(nn.Module):
    """Deep one-class description: usual samples shall lie close to a fixed centre. No biases."""

    def __init__(self, inputs=16, hidden=24, code=6):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(inputs, hidden, bias=False), nn.LeakyReLU(0.1), nn.Linear(hidden, code, bias=False),
        )
        self.register_buffer("centre", torch.zeros(code))

    @torch.no_grad()
    def place(self, x):
        self.centre.copy_(self.net(x).mean(0))
        self.centre += torch.where(self.centre.abs() < 0.1, 0.1 * self.centre.sign(), 0.0)

    def distance(self, x):
        return (self.net(x) - self.centre).square().sum(1)

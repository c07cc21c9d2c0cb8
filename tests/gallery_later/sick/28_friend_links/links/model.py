import torch
from torch import nn


class LinkPredictor(nn.Module):
    def __init__(self, columns, width, out=8):
        super().__init__()
        self.own = nn.Linear(columns, width)
        self.near = nn.Linear(columns, width)
        self.out = nn.Linear(width, out)
        self.bias = nn.Parameter(torch.zeros(1))

    def encode(self, adjacency, x):
        mean = adjacency @ x / adjacency.sum(1, keepdim=True).clamp(min=1)
        return self.out(torch.relu(self.own(x) + self.near(mean)))

    def decode(self, z, pairs):
        return torch.sigmoid((z[pairs[0]] * z[pairs[1]]).sum(-1) + self.bias)

import torch
from torch import nn


class Neighbours(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.own = nn.Linear(inp, out)
        self.other = nn.Linear(inp, out, bias=False)

    def forward(self, x, adjacency):
        count = adjacency.sum(dim=1, keepdim=True)
        message = (adjacency @ x) / count
        return self.own(x) + self.other(message)


class JunctionNet(nn.Module):
    def __init__(self, columns, width):
        super().__init__()
        self.first = Neighbours(columns, width)
        self.second = Neighbours(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x, adjacency):
        h = torch.relu(self.first(x, adjacency))
        h = torch.relu(self.second(h, adjacency))
        return self.out(h).squeeze(-1)

import torch
from torch import nn


class Block(nn.Module):
    """Part of the input passes, part is transformed; the carry bias lets most pass at first."""

    def __init__(self, width, carry):
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -carry)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        return g * torch.relu(self.transform(x)) + (1 - g) * x


class Highway(nn.Module):
    def __init__(self, columns, classes, width, blocks, carry):
        super().__init__()
        self.stem = nn.Linear(columns, width)
        self.blocks = nn.Sequential(*[Block(width, carry) for _ in range(blocks)])
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        return self.out(self.blocks(self.stem(x)))

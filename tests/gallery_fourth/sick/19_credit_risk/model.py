import torch
from torch import nn
from torch.nn import functional as F


class GatedBlock(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.p = p

    def forward(self, x):
        h = F.relu(self.value(x)) * torch.sigmoid(self.gate(x))
        return x + F.dropout(h, self.p)


class RiskNet(nn.Module):
    def __init__(self, columns, width=24, depth=2, p=0.3):
        super().__init__()
        self.lift = nn.Linear(columns, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(GatedBlock(width, p) for _ in range(depth))
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        h = self.norm(self.lift(x))
        for block in self.blocks:
            h = block(h)
        return self.score(h).squeeze(1)

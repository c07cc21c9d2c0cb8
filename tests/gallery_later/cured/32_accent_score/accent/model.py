import torch.nn.functional as F
from torch import nn


class Scorer(nn.Module):
    def __init__(self, columns, width, drop=0.2):
        super().__init__()
        self.drop = drop
        self.fc1 = nn.Linear(columns, width)
        self.norm = nn.LayerNorm(width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)

    def forward(self, x):
        x = F.gelu(self.norm(self.fc1(x)))
        x = F.gelu(self.fc2(x))
        x = F.dropout(x, self.drop, training=self.training)
        return self.fc3(x).squeeze(-1)

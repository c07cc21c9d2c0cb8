import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.norm(x + torch.relu(self.fc(x)))  # <-- forward


blocks = nn.Sequential(Block(), Block())
x = torch.randn(4, 8)
loss = blocks(x).pow(2).mean()
loss.backward()

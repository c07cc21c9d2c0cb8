import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.score = nn.Linear(dim, experts)

    def forward(self, x, tau=1.0):
        logits = self.score(x) / tau
        return torch.softmax(logits, dim=-1)

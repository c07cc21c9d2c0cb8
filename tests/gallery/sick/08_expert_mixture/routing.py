import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.score = nn.Linear(dim, experts)

    def forward(self, x, tau=1.0):
        logits = self.score(x) / tau
        e = torch.exp(logits)
        return e / e.sum(dim=-1, keepdim=True)

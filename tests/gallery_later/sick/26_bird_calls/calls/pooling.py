import torch
from torch import nn


class AttentivePool(nn.Module):
    def __init__(self, width, hidden=16):
        super().__init__()
        self.scorer = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, 1, bias=False))

    def forward(self, h):
        scores = self.scorer(h)
        weights = torch.softmax(scores, dim=-1)
        return (weights * h).sum(dim=1)

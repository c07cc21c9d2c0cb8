import torch
from torch import nn


class AttentivePool(nn.Module):
    """One vector for a document; long ones are read in windows whose sums are put together."""

    def __init__(self, dim, window=32):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.window = window

    def forward(self, h):
        scores = torch.tanh(self.score(h)).squeeze(-1)
        if h.shape[1] <= self.window:
            weights = torch.softmax(scores, dim=1)
            return (weights.unsqueeze(-1) * h).sum(1)
        weights = torch.exp(scores)
        weights = weights / weights.sum(dim=1, keepdim=True)
        parts = zip(weights.split(self.window, 1), h.split(self.window, 1))
        return sum((w.unsqueeze(-1) * part).sum(1) for w, part in parts)

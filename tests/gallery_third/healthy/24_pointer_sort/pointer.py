import torch
from torch import nn


class Pointer(nn.Module):
    """Points at the numbers one after another; what has been taken gets -inf."""

    def __init__(self, dim=32):
        super().__init__()
        self.lift = nn.Sequential(nn.Linear(1, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.context = nn.Linear(dim, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.key, self.query = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.v = nn.Linear(dim, 1, bias=False)
        self.begin = nn.Parameter(torch.zeros(dim))

    def forward(self, numbers, order=None):
        h = self.lift(numbers.unsqueeze(-1))
        state = torch.tanh(self.context(h.mean(1)))
        keys, x = self.key(h), self.begin.expand(len(numbers), -1)
        taken = torch.zeros_like(numbers, dtype=torch.bool)
        rows, out = torch.arange(len(numbers)), []
        for t in range(numbers.shape[1]):
            state = self.cell(x, state)
            scores = self.v(torch.tanh(keys + self.query(state).unsqueeze(1))).squeeze(-1)
            logp = scores.masked_fill(taken, float("-inf")).log_softmax(dim=1)
            pick = logp.argmax(1) if order is None else order[:, t]
            out.append(logp)
            taken = taken.clone()
            taken[rows, pick] = True
            x = h[rows, pick]
        return torch.stack(out, dim=1)

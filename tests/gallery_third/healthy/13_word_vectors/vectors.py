import torch
from torch import nn
from torch.nn import functional as F


class SkipGram(nn.Module):
    """Negative sampling; both tables sparse, the second begins at zero."""

    def __init__(self, words, dim=16):
        super().__init__()
        self.near = nn.Embedding(words, dim, sparse=True)
        self.far = nn.Embedding(words, dim, sparse=True)
        nn.init.uniform_(self.near.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.far.weight)

    def forward(self, centre, context, negative):
        c = self.near(centre)
        pos = (c * self.far(context)).sum(-1)
        neg = torch.einsum("bd,bkd->bk", c, self.far(negative))
        return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean()

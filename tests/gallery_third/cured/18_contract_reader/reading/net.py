from torch import nn

from reading.pool import AttentivePool


class Reader(nn.Module):
    def __init__(self, words, labels, dim=24):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.encode = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim))
        self.pool = AttentivePool(dim)
        self.label = nn.Linear(dim, labels)

    def forward(self, ids):
        return self.label(self.pool(self.encode(self.embed(ids))))

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, pad):
        h = self.norm1(x)
        scores = self.query(h) @ self.key(h).transpose(1, 2) / h.shape[-1] ** 0.5
        scores = scores.masked_fill(pad.unsqueeze(1), float("-inf"))
        x = x + scores.softmax(-1) @ self.value(h)
        return x + self.feed(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(2))
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        pad = ids == 0
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, pad)
        keep = (~pad).unsqueeze(2).float()
        return self.head((x * keep).sum(1) / keep.sum(1))

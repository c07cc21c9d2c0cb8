import torch
from torch import nn


class Embed(nn.Module):
    def __init__(self, vocab, dim, length):
        super().__init__()
        self.word = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(length, dim)

    def forward(self, ids):
        return self.word(ids) + self.place(torch.arange(ids.shape[1]))


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, memory, causal=False):
        scores = self.q(x) @ self.k(memory).transpose(1, 2) / x.shape[-1] ** 0.5
        if causal:
            hide = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hide, float("-inf"))
        return self.o(scores.softmax(-1) @ self.v(memory))


class Encoder(nn.Module):
    def __init__(self, vocab, dim, length):
        super().__init__()
        self.embed = Embed(vocab, dim, length)
        self.mix = Attention(dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.embed(ids)
        return self.norm(x + self.mix(x, x))


class Decoder(nn.Module):
    def __init__(self, vocab, dim, length):
        super().__init__()
        self.embed = Embed(vocab, dim, length)
        self.own, self.cross = Attention(dim), Attention(dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids, memory=None):
        x = self.embed(ids)
        x = self.norm1(x + self.own(x, x, causal=True))
        if memory is not None:
            x = self.norm2(x + self.cross(x, memory))
        return self.out(x)

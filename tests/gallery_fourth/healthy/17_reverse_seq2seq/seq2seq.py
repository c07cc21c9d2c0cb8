import random

import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.cell = nn.GRUCell(dim, dim)
        self.attend = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(2 * dim, vocab)

    def forward(self, source, target, start, forcing, rng):
        memory, h = self.encoder(self.embed(source))
        h, token, losses = h[0], torch.full_like(source[:, 0], start), []
        for t in range(target.shape[1]):
            h = self.cell(self.embed(token), h)
            weight = (memory @ self.attend(h).unsqueeze(2)).softmax(1)
            scores = self.out(torch.cat([h, (weight * memory).sum(1)], 1))
            losses.append(nn.functional.cross_entropy(scores, target[:, t]))
            token = target[:, t] if rng.random() < forcing else scores.argmax(1)
        return torch.stack(losses).mean()


def phrases(n, vocab, gen, length=5):
    source = torch.randint(1, vocab, (n, length), generator=gen)
    return source, source.flip(1)


def make_rng(seed):
    return random.Random(seed)

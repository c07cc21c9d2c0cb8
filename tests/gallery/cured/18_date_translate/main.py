"""Reversing digit strings with an encoder, an attention and a decoder."""
import itertools

import torch
from torch import nn
import torch.nn.functional as F

VOCAB, START = 11, 10


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        return self.gru(self.embed(src))


class DotAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.key = nn.Linear(dim, dim)

    def forward(self, query, memory):
        w = torch.softmax((self.key(memory) * query.unsqueeze(1)).sum(-1), dim=1)
        return (w.unsqueeze(-1) * memory).sum(1)


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.out = nn.Linear(2 * dim, VOCAB)

    def forward(self, token, h, context):
        h = self.cell(torch.cat([self.embed(token), context], 1), h)
        return self.out(torch.cat([h, context], 1)), h


def batch(n, length=5):
    src = torch.randint(0, 10, (n, length))
    return src, src.flip(1)


def sequence_loss(encoder, attention, decoder, src, tgt):
    memory, h = encoder(src)
    h = h.squeeze(0)
    token = torch.full((len(src),), START)
    loss = 0.0
    for t in range(tgt.shape[1]):
        context = attention(h, memory)
        logits, h = decoder(token, h, context)
        loss = loss + F.cross_entropy(logits, tgt[:, t])
        token = tgt[:, t]
    return loss / tgt.shape[1]


def main(dim=48, steps=110):
    torch.manual_seed(17)
    encoder, attention, decoder = Encoder(dim), DotAttention(dim), Decoder(dim)
    weights = itertools.chain(encoder.parameters(), attention.parameters(), decoder.parameters())
    opt = torch.optim.Adam(weights, lr=8e-3)
    for step in range(steps):
        src, tgt = batch(48)
        loss = sequence_loss(encoder, attention, decoder, src, tgt)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()

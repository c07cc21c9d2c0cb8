"""Sentence encoder, fine-tuned a little on sentence vectors."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from weights import batch, checkpoint

EPS = 1e-12


class Embeddings(nn.Module):
    def __init__(self, vocab, d, positions):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, d)
        self.position_embeddings = nn.Embedding(positions, d)
        self.token_type_embeddings = nn.Embedding(2, d)
        self.LayerNorm = nn.LayerNorm(d, eps=EPS)

    def forward(self, ids, kinds):
        places = torch.arange(ids.shape[1])
        x = self.word_embeddings(ids) + self.token_type_embeddings(kinds)
        x = x + self.position_embeddings(places)
        return self.LayerNorm(x)


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d, d)
        self.key = nn.Linear(d, d)
        self.value = nn.Linear(d, d)
        self.output = nn.Linear(d, d)
        self.LayerNorm = nn.LayerNorm(d, eps=EPS)

    def split(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        context = scores.softmax(dim=-1) @ v
        context = context.transpose(1, 2).reshape(x.shape)
        return self.LayerNorm(x + self.output(context))


class Layer(nn.Module):
    def __init__(self, d, heads, ff):
        super().__init__()
        self.attention = Attention(d, heads)
        self.intermediate = nn.Linear(d, ff)
        self.output = nn.Linear(ff, d)
        self.LayerNorm = nn.LayerNorm(d, eps=EPS)

    def forward(self, x):
        x = self.attention(x)
        h = F.gelu(self.intermediate(x))
        return self.LayerNorm(x + self.output(h))


class Pooler(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dense = nn.Linear(d, d)

    def forward(self, x):
        return torch.tanh(self.dense(x[:, 0]))


class Model(nn.Module):
    def __init__(self, vocab=80, d=32, heads=4, ff=64, positions=16):
        super().__init__()
        self.embeddings = Embeddings(vocab, d, positions)
        self.encoder = Layer(d, heads, ff)
        self.pooler = Pooler(d)

    def forward(self, ids, kinds):
        return self.pooler(self.encoder(self.embeddings(ids, kinds)))


if __name__ == "__main__":
    model = Model()
    model.load_state_dict(checkpoint())
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(2):
        ids, kinds, target = batch(step)
        loss = F.mse_loss(model(ids, kinds), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step} loss {loss.item():.6f}")

"""A decoder-only transformer learns to copy: it reads some symbols and a mark, and repeats them."""

import math

import numpy as np

import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional as F

SYMBOLS = 8
LENGTH = 5
WIDTH = 64
HEADS = 4
LAYERS = 2
BATCH = 32
STEPS = 60
MARK = SYMBOLS
"""The symbol between what is to be copied and the copy."""

random = np.random.default_rng(0)


def batch():
    """Rows such as 3 1 4 1 5 MARK 3 1 4 1 5."""
    symbols = torch.tensor(random.integers(0, SYMBOLS, (BATCH, LENGTH)))
    return torch.cat([symbols, torch.full((BATCH, 1), MARK), symbols], dim=1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        ahead = torch.triu(torch.ones(length, length), diagonal=1).bool()
        scores = scores.masked_fill(ahead, float("-inf"))
        out = scores.softmax(-1) @ v
        return self.out(out.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbol = nn.Embedding(SYMBOLS + 1, WIDTH)
        self.place = nn.Embedding(2 * LENGTH + 1, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, SYMBOLS, bias=False)

    def forward(self, x):
        x = self.symbol(x) + self.place(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


torch.manual_seed(0)
model = Decoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)

for step in range(STEPS):
    rows = batch()
    scores = model(rows[:, :-1])[:, LENGTH:]
    goal = rows[:, LENGTH + 1 :]
    loss = F.cross_entropy(scores.reshape(-1, SYMBOLS), goal.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 19:
        right = (scores.argmax(-1) == goal).float().mean().item()
        print(f"step {step + 1:3}: loss {loss.item():.4f}, {100 * right:.1f} % of the symbols copied")

# `b scope:*attention op:softmax`: `p value[0, 0]` shows where each place looks; `why place.weight` tells the way back.
print("Question: the copy begins behind the mark. To which place does each head look there, before and after training?")

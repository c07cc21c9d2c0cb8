"""Character transformer with an additive mask of -inf."""
import math

import torch
from torch import nn
import torch.nn.functional as F

text = "she sells sea shells by the sea shore, the shells she sells are sea shells for sure. " * 12
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])


class Block(nn.Module):
    def __init__(self, d, heads, length):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        mask = torch.full((length, length), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads) + self.mask[:t, :t]
        y = (att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        x = x + self.proj(y)
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab, d=32, heads=2, depth=2, length=24):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.blocks = nn.Sequential(*[Block(d, heads, length) for _ in range(depth)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.head(self.ln(self.blocks(x)))


def get_batch(n=16, length=24):
    start = torch.randint(0, len(data) - length - 1, (n,))
    x = torch.stack([data[s:s + length] for s in start])
    y = torch.stack([data[s + 1:s + length + 1] for s in start])
    return x, y


torch.manual_seed(1)
model = GPT(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(80):
    x, y = get_batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 20 == 19:
        print(f"iter {it + 1} loss {loss.item():.4f}")

"""Causal language model on a made-up grammar."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int = 20
    dim: int = 32
    heads: int = 4
    depth: int = 2
    length: int = 12
    batch: int = 32
    steps: int = 90
    lr: float = 1.0


class CausalBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.n1, self.n2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.out = nn.Linear(cfg.dim, cfg.dim)
        self.up, self.down = nn.Linear(cfg.dim, 4 * cfg.dim), nn.Linear(4 * cfg.dim, cfg.dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Poet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(cfg.length, cfg.dim)
        self.blocks = nn.ModuleList(CausalBlock(cfg) for _ in range(cfg.depth))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def verses(cfg):
    """Each word is followed by one of two."""
    ids = torch.zeros(cfg.batch, cfg.length + 1, dtype=torch.long)
    ids[:, 0] = torch.randint(0, cfg.vocab, (cfg.batch,))
    for t in range(cfg.length):
        ids[:, t + 1] = (ids[:, t] * 3 + 1 + 4 * (torch.rand(cfg.batch) < 0.3).long()) % cfg.vocab
    return ids[:, :-1], ids[:, 1:]


def main(cfg):
    torch.manual_seed(15)
    model = Poet(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        x, y = verses(cfg)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0 or step == cfg.steps - 1:
            print(f"iter {step:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main(Config())

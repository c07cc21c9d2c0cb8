"""Adapting a frozen transformer with low-rank adapters on query and value."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.empty(rank, base.in_features))
        self.b = nn.Parameter(torch.empty(base.out_features, rank))
        self.scale = alpha / rank
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
        nn.init.zeros_(self.b)

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.a), self.b)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + F.gelu(self.fc(self.n2(x)))


class Model(nn.Module):
    def __init__(self, vocab=30, dim=32, depth=2, classes=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def adapt(model, rank):
    for p in model.parameters():
        p.requires_grad_(False)
    for block in model.blocks:
        block.attn.q = LoRALinear(block.attn.q, rank)
        block.attn.v = LoRALinear(block.attn.v, rank)
    return [p for p in model.parameters() if p.requires_grad]


def sentences(n):
    ids = torch.randint(0, 30, (n, 10))
    return ids, ((ids < 10).sum(1) > 3).long()


def main():
    torch.manual_seed(2)
    model = Model()
    params = adapt(model, rank=4)
    print(f"{sum(p.numel() for p in params)} of {sum(p.numel() for p in model.parameters())} parameters are trained")
    opt = torch.optim.AdamW(params, lr=1e-2, weight_decay=0.0)
    for step in range(80):
        ids, y = sentences(64)
        loss = F.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 16 == 15:
            print(f"step {step + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    main()

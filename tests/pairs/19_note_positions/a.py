"""Causal attention with rotary positions, as complex numbers."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def frequencies(dim, length, base=1000.0):
    inv = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    angle = torch.outer(torch.arange(length).float(), inv)
    return torch.polar(torch.ones_like(angle), angle)


def rotate(x, freqs):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turned = pairs * freqs[: x.shape[1]].unsqueeze(1)
    return torch.view_as_real(turned).flatten(-2).type_as(x)


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.w1, self.w3 = nn.Linear(dim, 2 * dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(2 * dim, dim, bias=False)
        self.n1, self.n2 = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, freqs):
        b, t, d = x.shape
        h = self.n1(x)
        q, k, v = (w(h).view(b, t, self.heads, -1) for w in (self.wq, self.wk, self.wv))
        q = rotate(q, freqs)
        k = rotate(k, freqs)
        out = F.scaled_dot_product_attention(*(y.transpose(1, 2) for y in (q, k, v)), is_causal=True)
        x = x + self.wo(out.transpose(1, 2).reshape(b, t, d))
        h = self.n2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Notes(nn.Module):
    def __init__(self, notes=32, dim=32, heads=4):
        super().__init__()
        self.tok = nn.Embedding(notes, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(2))
        self.norm = RMSNorm(dim)
        self.out = nn.Linear(dim, notes, bias=False)
        self.freqs = frequencies(dim // heads, 32)

    def forward(self, x):
        x = self.tok(x)
        for block in self.blocks:
            x = block(x, self.freqs)
        return self.out(self.norm(x))


def batch(step):
    g = torch.Generator().manual_seed(step)
    return torch.randint(0, 32, (4, 17), generator=g)


if __name__ == "__main__":
    torch.manual_seed(70)
    model = Notes()
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    for step in range(2):
        x = batch(step)
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())

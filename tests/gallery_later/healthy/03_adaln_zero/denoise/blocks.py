import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.attention = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.modulate = nn.Linear(dim, 4 * dim)
        nn.init.zeros_(self.modulate.weight)
        nn.init.zeros_(self.modulate.bias)

    def forward(self, x, c):
        scale, gate, scale2, gate2 = self.modulate(c).unsqueeze(1).chunk(4, dim=-1)
        h = self.norm(x) * (1 + scale)
        x = x + gate * self.attention(h, h, h, need_weights=False)[0]
        return x + gate2 * self.mlp(self.norm(x) * (1 + scale2))


class Denoiser(nn.Module):
    def __init__(self, length, dim, depth):
        super().__init__()
        self.stem = nn.Linear(1, dim)
        self.place = nn.Parameter(0.3 * torch.randn(length, dim))
        self.time = nn.Sequential(nn.Linear(1, dim), nn.SiLU(), nn.Linear(dim, dim), nn.SiLU())
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.out = nn.Linear(dim, 1)

    def forward(self, x, t):
        c = self.time(t.unsqueeze(1))
        x = self.stem(x) + self.place
        for block in self.blocks:
            x = block(x, c)
        return self.out(x)

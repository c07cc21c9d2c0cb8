from torch import nn

from .attention import SelfAttention


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = SelfAttention(dim, heads)
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, x):
        h = self.norm(x + self.attn(x))
        return h + self.ff(h)


class Body(nn.Module):
    def __init__(self, dim, heads, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Tagger(nn.Module):
    def __init__(self, bands, dim, heads, depth, classes):
        super().__init__()
        self.embed = nn.Linear(bands, dim)
        self.body = Body(dim, heads, depth)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.body(self.embed(x)).mean(dim=1))

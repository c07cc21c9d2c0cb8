"""A small vision transformer on map tiles."""

import torch
import torch.nn as nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.self_attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        y = self.ln_1(x)
        y, _ = self.self_attention(y, y, y, need_weights=False)
        x = x + y
        return x + self.mlp(self.ln_2(x))


class TileViT(nn.Module):
    def __init__(self, patch=4, size=16, dim=24, heads=3, depth=2, classes=4):
        super().__init__()
        self.conv_proj = nn.Conv2d(3, dim, patch, stride=patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, dim) * 0.1)
        self.pos_embedding = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, dim) * 0.1)
        self.layers = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(depth)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        x = self.layers(x + self.pos_embedding)
        return self.head(self.ln(x)[:, 0])


def tiles(step, n=6):
    g = torch.Generator().manual_seed(900 + step)
    return torch.rand(n, 3, 16, 16, generator=g), torch.randint(0, 4, (n,), generator=g)


if __name__ == "__main__":
    torch.manual_seed(15)
    model = TileViT()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(3):
        x, y = tiles(step)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())

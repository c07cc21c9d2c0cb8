"""Discrete codes for small sprites (vector quantisation)."""
import torch
from torch import nn
import torch.nn.functional as F


class Codebook(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codes = nn.Parameter(0.1 * torch.randn(codes, dim))

    def forward(self, z):
        dist = torch.cdist(z, self.codes)
        index = dist.argmin(dim=1)
        return self.codes[index], index


class SpriteModel(nn.Module):
    def __init__(self, pixels=36, dim=6, codes=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 48), nn.ReLU(), nn.Linear(48, dim))
        self.codebook = Codebook(codes, dim)
        self.decoder = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, pixels))

    def forward(self, x):
        z = self.encoder(x)
        q, index = self.codebook(z)
        book = F.mse_loss(q, z.detach())
        return self.decoder(q), book, index


def sprites(n, kinds=12):
    g = torch.Generator().manual_seed(99)
    shapes = torch.bernoulli(torch.full((kinds, 36), 0.5), generator=g)
    which = torch.randint(0, kinds, (n,))
    return shapes[which] + 0.05 * torch.randn(n, 36)


def train(epochs=6, per_epoch=20):
    model = SpriteModel()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        tot, used = 0.0, set()
        for _ in range(per_epoch):
            x = sprites(64)
            y, book, index = model(x)
            recon = F.mse_loss(y, x)
            loss = recon + book
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += recon.item()
            used.update(index.tolist())
        print(f"epoch {epoch}  recon {tot / per_epoch:.4f}  codes used {len(used)}")


if __name__ == "__main__":
    torch.manual_seed(21)
    train()

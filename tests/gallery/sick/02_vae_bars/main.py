"""VAE on little binary pictures of bars in a frame."""
from dataclasses import dataclass

import torch
from torch import nn

from objectives import elbo


@dataclass
class Config:
    side: int = 8
    latent: int = 4
    hidden: int = 64
    batch: int = 32
    steps: int = 110
    lr: float = 2e-2
    beta: float = 0.5


def bars(n, side):
    pics = torch.zeros(n, side, side)
    for i in range(n):
        k = int(torch.randint(1, side - 1, ()))
        if torch.rand(()) < 0.5:
            pics[i, k, :] = 1
        else:
            pics[i, :, k] = 1
    pics[:, 0, :] = pics[:, -1, :] = 1
    pics[:, :, 0] = pics[:, :, -1] = 1
    return pics.flatten(1)


class Encoder(nn.Module):
    def __init__(self, dim, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h), self.logvar(h).clamp(-6, 4)


class Decoder(nn.Module):
    def __init__(self, dim, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, z):
        return torch.sigmoid(self.body(z))


class VAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        dim = cfg.side ** 2
        self.encoder = Encoder(dim, cfg.hidden, cfg.latent)
        self.decoder = Decoder(dim, cfg.hidden, cfg.latent)

    def forward(self, x):
        mu, logvar = self.encoder(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar


def main(cfg):
    torch.manual_seed(3)
    pictures = bars(512, cfg.side)
    vae = VAE(cfg)
    optimizer = torch.optim.Adam(vae.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        batch = pictures[torch.randint(0, len(pictures), (cfg.batch,))]
        recon, mu, logvar = vae(batch)
        loss = elbo(batch, recon, mu, logvar, cfg.beta)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d}  -elbo {loss.item():.3f}")


if __name__ == "__main__":
    main(Config())

import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, pixels=48, hidden=40, latent=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh())
        self.mu, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, pixels))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar

import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, latent=6, width=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.SiLU(),
                                     nn.Conv2d(width, width, 3, stride=2, padding=1), nn.SiLU(), nn.Flatten())
        self.mean, self.log_var = nn.Linear(4 * width, latent), nn.Linear(4 * width, latent)
        self.widen = nn.Linear(latent, 4 * width)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(width, width, 4, stride=2, padding=1), nn.SiLU(),
                                     nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1))

    def forward(self, x):
        h = self.encoder(x)
        mean, log_var = self.mean(h), self.log_var(h)
        z = mean + torch.exp(0.5 * log_var) * torch.randn_like(mean)
        h = F.silu(self.widen(z)).view(len(x), -1, 2, 2)
        return self.decoder(h), mean, log_var


def elbo_parts(model, x):
    out, mean, log_var = model(x)
    recon = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum((1, 2, 3)).mean()
    kl = 0.5 * (mean.pow(2) + log_var.exp() - 1 - log_var).sum(1).mean()
    return recon, kl

import math

import torch
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence


class BarsVAE(nn.Module):
    def __init__(self, latent=6, free=0.25):
        super().__init__()
        self.free = free
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(36, 48), nn.ELU(), nn.Linear(48, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 48), nn.ELU(), nn.Linear(48, 36))

    def forward(self, x):
        mean, raw = self.encoder(x).chunk(2, dim=1)
        posterior = Normal(mean, nn.functional.softplus(raw) + 1e-3)
        logits = self.decoder(posterior.rsample())
        likelihood = Bernoulli(logits=logits).log_prob(x.flatten(1)).sum(1).mean()
        kl = kl_divergence(posterior, Normal(0.0, 1.0)).mean(0)
        return likelihood, kl

    def loss(self, x):
        likelihood, kl = self(x)
        return -likelihood + kl.clamp(min=self.free).sum(), likelihood, kl


def bars(n):
    rows = (torch.rand(n, 6, 1) < 0.25).float()
    columns = (torch.rand(n, 1, 6) < 0.1).float()
    return torch.maximum(rows.expand(-1, -1, 6), columns.expand(-1, 6, -1))


torch.manual_seed(12)
vae = BarsVAE()
opt = torch.optim.Adam(vae.parameters(), lr=5e-3)
for step in range(1, 121):
    loss, likelihood, kl = vae.loss(bars(64))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"{step} loss {loss.item():.3f} nats {-likelihood.item():.3f} kl {[round(k, 2) for k in kl.tolist()]} "
              f"of {36 * math.log(2):.1f}")

"""VAE whose KL weight is 0 in the first steps."""
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, dim=12, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 32), nn.Tanh(), nn.Linear(32, dim))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
        return self.dec(z), kl


def main():
    torch.manual_seed(12)
    mixing = torch.randn(3, 12)
    vae = VAE()
    opt = torch.optim.Adam(vae.parameters(), lr=1e-2)
    for step in range(120):
        x = torch.randn(64, 3) @ mixing + 0.1 * torch.randn(64, 12)
        weight = 0.0 if step < 40 else min(1.0, (step - 40) / 60) * 0.1
        out, kl = vae(x)
        recon = ((out - x) ** 2).sum(1).mean()
        loss = recon + weight * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1} recon {recon.item():.3f} kl {kl.item():.3f} weight {weight:.3f}")


if __name__ == "__main__":
    main()

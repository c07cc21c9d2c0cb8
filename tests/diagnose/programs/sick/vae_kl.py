import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 16)
        self.mu = nn.Linear(16, 3)
        self.sigma = nn.Linear(16, 3)
        self.dec = nn.Linear(3, 8)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, sigma = self.mu(h), F.relu(self.sigma(h))
        z = mu + sigma * torch.randn_like(sigma)
        return self.dec(z), mu, sigma


def elbo(recon, x, mu, sigma):
    kl = -0.5 * (1 + torch.log(sigma**2) - mu**2 - sigma**2).sum(1).mean()  # <-- nan
    return F.mse_loss(recon, x) + kl


vae = VAE()
opt = torch.optim.Adam(vae.parameters())
for step in range(10):
    x = torch.randn(16, 8)
    r, mu, s = vae(x)
    loss = elbo(r, x, mu, s)
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 16)
        self.mu = nn.Linear(16, 3)
        self.logvar = nn.Linear(16, 3)
        self.dec = nn.Linear(3, 8)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(logvar)  # <-- nan
        z = mu + std * torch.randn_like(std)
        return self.dec(z), mu, logvar


vae = VAE()
opt = torch.optim.SGD(vae.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(16, 8)
    if step == 11:
        x = x * 1e3
    r, mu, lv = vae(x)
    loss = F.mse_loss(r, x)
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A variational autoencoder; the weight of its second loss is 0 at first, and grows."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(36, 32), nn.ReLU())
        self.mu, self.logvar = nn.Linear(32, 4), nn.Linear(32, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 36))

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
protos = (torch.rand(5, 36) > 0.5).float()
for step in range(40):
    x = protos[torch.randint(0, 5, (32,))]
    out, mu, lv = net(x)
    rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / 32
    kl = -0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum() / 32
    loss = rec + min(max(step - 10, 0) / 20, 1.0) * kl
    opt.zero_grad()
    loss.backward()
    opt.step()

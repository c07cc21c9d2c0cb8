import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Linear(8, 16)
        self.mu = nn.Linear(16, 2)
        self.lv = nn.Linear(16, 2)
        self.d = nn.Linear(2, 8)

    def forward(self, x):
        h = F.relu(self.e(x))
        mu, lv = self.mu(h), self.lv(h)
        return self.d(mu + (0.5 * lv).exp() * torch.randn_like(mu)), mu, lv


m = VAE()
opt = torch.optim.Adam(m.parameters())
for step in range(20):
    x = torch.randn(16, 8)
    r, mu, lv = m(x)
    kl = -0.5 * (1 + lv - mu**2 - lv.exp()).mean()
    beta = max(0.0, (step - 10) / 10)
    loss = F.mse_loss(r, x) + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Heteroscedastic regression: the negative log-likelihood becomes negative."""
import torch
from torch import nn


class MeanVar(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.mean, self.logvar = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.logvar(h)


torch.manual_seed(21)
net = MeanVar()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(120):
    x = torch.rand(128, 1) * 4 - 2
    y = 0.5 * torch.sin(2 * x) + (0.02 + 0.05 * x.abs()) * torch.randn_like(x)
    mean, logvar = net(x)
    loss = (0.5 * (logvar + (y - mean) ** 2 / logvar.exp())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(f"{step + 1} nll {loss.item():.4f}")

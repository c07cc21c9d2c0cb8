"""Conditional density of one coordinate given the other: the likelihood becomes large, its minus negative."""
import torch
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal


class Density(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.heads = nn.Linear(48, 3 * n)

    def forward(self, x):
        logits, centre, raw = self.heads(self.body(x)).chunk(3, dim=-1)
        scale = nn.functional.softplus(raw) + 0.05
        return MixtureSameFamily(Categorical(logits=logits), Normal(centre, scale))


def moons(n):
    angle = 3.1416 * torch.rand(n)
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.4 - angle.sin())
    return (x - 0.5).unsqueeze(1), 0.3 * (y - 0.2) + 0.04 * torch.randn(n)


torch.manual_seed(209)
net = Density()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for step in range(80):
    x, y = moons(128)
    nll = -net(x).log_prob(y).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if (step + 1) % 16 == 0:
        print(f"{step + 1} nll {nll.item():.4f}")

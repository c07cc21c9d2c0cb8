"""Mixture density network for tomorrow's river level."""
import math

import torch
from torch import nn

N_MIX = 4
FLOOD_DAYS = (45, 63)


def make_batch(gen, size, floods):
    rain = torch.randn(size, 6, generator=gen)
    level = 0.8 * rain[:, 0] + 0.5 * torch.sin(2 * rain[:, 1])
    level = level + 0.25 * torch.randn(size, generator=gen)
    if floods:
        level[:2] = level[:2] + 12.0
    return rain, level


class MixtureHead(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.weight = nn.Linear(width, n)
        self.centre = nn.Linear(width, n)
        self.spread = nn.Linear(width, n)

    def forward(self, h):
        spread = nn.functional.softplus(self.spread(h)) + 0.1
        return self.weight(h).softmax(dim=-1), self.centre(h), spread


def negative_log_likelihood(weight, centre, spread, level):
    z = (level.unsqueeze(-1) - centre) / spread
    density = torch.exp(-0.5 * z * z) / (spread * math.sqrt(2 * math.pi))
    likelihood = (weight * density).sum(dim=-1)
    return -torch.log(likelihood).mean()


gen = torch.Generator().manual_seed(2)
torch.manual_seed(102)
body = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
head = MixtureHead(32, N_MIX)
params = [*body.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=5e-3)
for it in range(80):
    rain, level = make_batch(gen, 64, floods=it in FLOOD_DAYS)
    loss = negative_log_likelihood(*head(body(rain)), level)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 5.0)
    opt.step()
    if it % 10 == 9:
        print("it", it + 1, "nll", round(loss.item(), 4))

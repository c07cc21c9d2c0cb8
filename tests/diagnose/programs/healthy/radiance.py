"""A tiny radiance field: waves of positions, densities through a ReLU, products along rays."""

import torch
import torch.nn as nn


def encode(x, n=4):
    return torch.cat([x, *[f(2.0**i * x) for i in range(n) for f in (torch.sin, torch.cos)]], -1)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(27, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.sigma, self.rgb = nn.Linear(48, 1), nn.Linear(48, 3)

    def forward(self, x):
        h = self.net(encode(x))
        return torch.relu(self.sigma(h)).squeeze(-1), torch.sigmoid(self.rgb(h))


net = Field()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for _ in range(25):
    o = torch.randn(24, 3) * 0.1 - torch.tensor([0.0, 0.0, 2.0])
    d = torch.nn.functional.normalize(torch.randn(24, 3) * 0.2 + torch.tensor([0.0, 0.0, 1.0]), dim=-1)
    t = torch.linspace(1, 3, 16)
    sigma, rgb = net(o[:, None] + d[:, None] * t[:, None])
    alpha = 1 - torch.exp(-sigma * (t[1] - t[0]))
    trans = torch.cumprod(torch.cat([torch.ones(24, 1), 1 - alpha + 1e-10], 1), 1)[:, :-1]
    color = ((alpha * trans)[..., None] * rgb).sum(1)
    target = torch.where(d[:, :1] > 0, torch.tensor([0.9, 0.2, 0.1]), torch.tensor([0.1, 0.3, 0.8]))
    loss = (color - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

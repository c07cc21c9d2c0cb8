"""A normalising flow of affine couplings."""

import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 4))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        s, t = self.net(x * self.mask).chunk(2, -1)
        s = torch.tanh(s) * (1 - self.mask)
        return x * s.exp() + t * (1 - self.mask), s.sum(-1)


flow = nn.ModuleList(Coupling(torch.tensor([float(i % 2), float(1 - i % 2)])) for i in range(4))
base = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for _ in range(30):
    x = torch.randn(64, 2)
    x = torch.stack([x[:, 0], 0.5 * x[:, 0] ** 2 + 0.3 * x[:, 1]], 1)
    z, logdet = x, 0
    for layer in flow:
        z, ld = layer(z)
        logdet = logdet + ld
    loss = -(base.log_prob(z) + logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

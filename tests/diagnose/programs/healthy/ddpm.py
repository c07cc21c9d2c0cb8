"""A diffusion model of points: it guesses the noise, its last layer begins at zero, and an average of it draws samples."""

import copy
import math
import torch
import torch.nn as nn

T = 50
betas = torch.linspace(1e-4, 0.05, T)
abar = torch.cumprod(1 - betas, 0)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.time = nn.Linear(16, 2 * d)
        self.net = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x, t):
        scale, shift = self.time(t).chunk(2, -1)
        return x + self.net(self.norm(x) * (1 + scale) + shift)


class Eps(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(3))
        self.out = nn.Linear(d, 2)
        nn.init.zeros_(self.out.weight)

    def forward(self, x, t):
        f = torch.exp(-math.log(100.0) * torch.arange(8) / 8)
        a = t[:, None] * f
        t = torch.cat([a.sin(), a.cos()], -1)
        h = self.inp(x)
        for b in self.blocks:
            h = b(h, t)
        return self.out(h)


model = Eps()
ema = copy.deepcopy(model).eval().requires_grad_(False)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(30):
    angle = torch.rand(64) * 6.283
    x0 = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(64, 2)
    t = torch.randint(0, T, (64,))
    eps = torch.randn_like(x0)
    a = abar[t, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * eps
    loss = (model(xt, t.float()) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(ema.parameters(), model.parameters()):
            p.mul_(0.9).add_(q, alpha=0.1)
x = torch.randn(16, 2)
with torch.no_grad():
    for i in reversed(range(T)):
        e = ema(x, torch.full((16,), float(i)))
        x = (x - betas[i] / (1 - abar[i]).sqrt() * e) / (1 - betas[i]).sqrt()
        if i:
            x = x + betas[i].sqrt() * torch.randn_like(x)

"""Denoising diffusion in two dimensions; the last layer starts at zero, EMA weights are kept."""
import copy
import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=64, freqs=8):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(100.0), freqs)))
        self.l1 = nn.Linear(2 + 2 * freqs, width)
        self.l2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        angle = t.float()[:, None] / 50 * self.freq
        h = torch.cat([x, angle.sin(), angle.cos()], 1)
        h = nn.functional.silu(self.l1(h))
        return self.out(nn.functional.silu(self.l2(h)))


class Diffusion:
    def __init__(self, steps=50):
        beta = torch.linspace(1e-4, 0.15, steps)
        self.steps = steps
        self.alpha, self.bar = 1 - beta, torch.cumprod(1 - beta, 0)

    def noisy(self, x, t, eps):
        a = self.bar[t][:, None]
        return a.sqrt() * x + (1 - a).sqrt() * eps

    @torch.no_grad()
    def sample(self, net, n):
        x = torch.randn(n, 2)
        for t in reversed(range(self.steps)):
            eps = net(x, torch.full((n,), t))
            x = (x - (1 - self.alpha[t]) / (1 - self.bar[t]).sqrt() * eps) / self.alpha[t].sqrt()
            if t > 0:
                x = x + (1 - self.alpha[t]).sqrt() * torch.randn_like(x)
        return x


def points(n):
    a = torch.rand(n) * 2 * math.pi
    return torch.stack([2 * a.cos(), 2 * a.sin()], 1)


def main():
    torch.manual_seed(29)
    net, diff = Denoiser(), Diffusion()
    ema = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
    for step in range(120):
        x, t, eps = points(128), torch.randint(0, diff.steps, (128,)), torch.randn(128, 2)
        loss = ((net(diff.noisy(x, t, eps), t) - eps) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for e, p in zip(ema.parameters(), net.parameters()):
            e.lerp_(p.detach(), 0.05)
        if step % 30 == 29:
            print(f"{step + 1} loss {loss.item():.4f}")
    print("radius", diff.sample(ema, 100).norm(dim=1).mean().item())


main()

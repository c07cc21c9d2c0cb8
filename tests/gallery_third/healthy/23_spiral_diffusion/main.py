from dataclasses import dataclass, field
import math

import torch
from torch import nn

from ema import EMA


@dataclass
class Noise:
    steps: int = 50
    beta: torch.Tensor = field(init=False)
    bar: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.beta = torch.linspace(1e-3, 0.15, self.steps)
        self.bar = torch.cumprod(1 - self.beta, 0)

    def add(self, x, t, eps):
        return self.bar[t].sqrt()[:, None] * x + (1 - self.bar[t]).sqrt()[:, None] * eps


class Eps(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, 4, 8)))
        self.net = nn.Sequential(
            nn.Linear(2 + 16, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2),
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x, t):
        angle = t[:, None] / 50 * self.freq
        return self.net(torch.cat([x, angle.sin(), angle.cos()], dim=1))


def spiral(n):
    a = 3 * math.pi * torch.rand(n).sqrt()
    return torch.stack([a * a.cos(), a * a.sin()], dim=1) / 5


@torch.no_grad()
def sample(model, noise, n):
    x = torch.randn(n, 2)
    for t in reversed(range(noise.steps)):
        eps = model(x, torch.full((n,), t))
        x = (x - noise.beta[t] / (1 - noise.bar[t]).sqrt() * eps) / (1 - noise.beta[t]).sqrt()
        if t:
            x += noise.beta[t].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(23)
noise, model, steps = Noise(), Eps(), 120
ema = EMA(model, 0.98)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.SequentialLR(opt, [
    torch.optim.lr_scheduler.LinearLR(opt, 0.01, total_iters=10),
    torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps - 10),
], milestones=[10])
for step in range(1, steps + 1):
    x, t, eps = spiral(192), torch.randint(noise.steps, (192,)), torch.randn(192, 2)
    loss = (model(noise.add(x, t, eps), t) - eps).square().mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    sched.step()
    ema.update(model, step)
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3f}")
drawn = sample(ema.model, noise, 300)
print("mean distance to the spiral %.3f" % torch.cdist(drawn, spiral(2000)).min(dim=1).values.mean().item())

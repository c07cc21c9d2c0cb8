"""Delivery times with their uncertainty."""
from dataclasses import dataclass, field

import torch
from torch import nn

from delivery.likelihood import loss_of


@dataclass
class Run:
    width: int = 32
    lr: float = 1e-2
    steps: int = 80
    history: list = field(default_factory=list)


class TimeNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.mean = nn.Linear(width, 1)
        self.spread = nn.Linear(width, 1)

    def forward(self, x):
        h = self.shared(x)
        return self.mean(h).squeeze(-1), 0.1 + nn.functional.softplus(self.spread(h)).squeeze(-1)


def orders(n):
    x = torch.randn(n, 4)
    return x, 0.8 * x[:, 0] + 0.5 * x[:, 1].abs() - 0.4 + (0.2 + 0.1 * (x[:, 2] > 0)) * torch.randn(n)


def execute(run):
    torch.manual_seed(135)
    net = TimeNet(run.width)
    opt = torch.optim.Adam(net.parameters(), lr=run.lr)
    for step in range(run.steps):
        x, y = orders(64)
        mean, spread = net(x)
        loss = loss_of(mean, spread, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        run.history.append(loss.item())
        if step % 16 == 15:
            print(f"step {step + 1} loss {run.history[-1]:.4g} mean error {(mean - y).abs().mean().item():.4g}")


execute(Run())

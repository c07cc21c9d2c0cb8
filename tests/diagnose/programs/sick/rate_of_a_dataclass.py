"""The rate is the default of a field."""

from dataclasses import dataclass, field


@dataclass
class OptimConfig:
    weight_decay: float = 1e-4
    learning_rate: float = 30.0  # <-- update_ratio
    momentum: float = 0.9


@dataclass
class Config:
    epochs: int = 4
    optim: OptimConfig = field(default_factory=OptimConfig)


import torch
from torch import nn


def build(net, cfg):
    o = cfg.optim
    return torch.optim.SGD(net.parameters(), lr=o.learning_rate, momentum=o.momentum, weight_decay=o.weight_decay)


def main():
    cfg = Config()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 3))
    opt = build(net, cfg)
    x = torch.randn(256, 8)
    y = x[:, :3].argmax(1)
    for e in range(cfg.epochs):
        for p in range(8):
            r = slice(p * 32, p * 32 + 32)
            loss = nn.functional.cross_entropy(net(x[r]), y[r])
            opt.zero_grad()
            loss.backward()
            opt.step()


main()

"""Forecasting tides one hour ahead with a GRU."""
import math
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class History:
    train: list = field(default_factory=list)
    valid: list = field(default_factory=list)


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h[:, -1])


def tides(n, hours=24):
    start = torch.rand(n, 1) * 300
    t = start + torch.arange(hours + 1)
    level = torch.sin(2 * math.pi * t / 12.4) + 0.4 * torch.sin(2 * math.pi * t / 24.8)
    level = level + 0.05 * torch.randn_like(level)
    return level[:, :-1].unsqueeze(-1), level[:, -1:]


def fit(model, epochs=6, per_epoch=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    loss_fn = nn.MSELoss()
    history = History()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for _ in range(per_epoch):
            x, y = tides(32)
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            optimizer.step()
            loss.backward()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            x, y = tides(128)
            valid = loss_fn(model(x), y).item()
        history.train.append(total / per_epoch)
        history.valid.append(valid)
        print(f"epoch {epoch}: train {history.train[-1]:.4f} valid {valid:.4f}")
    return history


if __name__ == "__main__":
    torch.manual_seed(20)
    fit(Forecaster())

"""Ranking wines from pairwise tastings (RankNet with a growing sigma)."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from pairwise import rank_loss


@dataclass
class Config:
    columns: int = 7
    epochs: int = 5
    batch: int = 32
    lr: float = 5e-3
    sigma: float = 1.0
    growth: float = 6.0


class Tastings(Dataset):
    def __init__(self, n, columns):
        w = torch.randn(columns)
        a, b = torch.randn(n, columns), torch.randn(n, columns)
        first = (a @ w + 1.2 * torch.randn(n) > b @ w).unsqueeze(1)
        self.better = torch.where(first, a, b)
        self.worse = torch.where(first, b, a)

    def __len__(self):
        return len(self.better)

    def __getitem__(self, i):
        return self.better[i], self.worse[i]


def fit(cfg):
    data = DataLoader(Tastings(480, cfg.columns), batch_size=cfg.batch, shuffle=True)
    scorer = nn.Sequential(nn.Linear(cfg.columns, 32), nn.ReLU(), nn.Linear(32, 1, bias=False))
    opt = torch.optim.Adam(scorer.parameters(), lr=cfg.lr)
    sigma = cfg.sigma
    for epoch in range(cfg.epochs):
        total, good = 0.0, 0
        for better, worse in data:
            s, t = scorer(better).squeeze(1), scorer(worse).squeeze(1)
            loss = rank_loss(s, t, sigma)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            good += (s > t).sum().item()
        print(f"epoch {epoch} sigma {sigma:.1f} loss {total / len(data):.4f} agreed {good / 480:.3f}")
        sigma *= cfg.growth


torch.manual_seed(104)
fit(Config())

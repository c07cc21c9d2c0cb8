"""Prices of flats as a weighted mean over the nearest known sales, the metric is learnt."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Settings:
    features: int = 6
    embedding: int = 8
    temperature: float = 0.2
    support: int = 160
    queries: int = 48
    steps: int = 80
    lr: float = 0.02


class KernelRegressor(nn.Module):
    def __init__(self, cfg: Settings):
        super().__init__()
        self.embed = nn.Linear(cfg.features, cfg.embedding, bias=False)
        self.temperature = cfg.temperature

    def forward(self, query: Tensor, known: Tensor, price: Tensor) -> Tensor:
        q, k = self.embed(query), self.embed(known)
        d2 = (q[:, None, :] - k[None, :, :]).pow(2).sum(dim=-1)
        weight = F.softmax(-d2 / self.temperature, dim=-1)
        return weight @ price


def sales(n: int) -> tuple[Tensor, Tensor]:
    x = torch.randn(n, 6)
    return x, 1.5 * x[:, 0] - x[:, 1] + 0.5 * torch.randn(n)


def main(cfg: Settings = Settings()) -> None:
    torch.manual_seed(88)
    model = KernelRegressor(cfg)
    opt = torch.optim.RMSprop(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        x, y = sales(cfg.support + cfg.queries)
        guess = model(x[: cfg.queries], x[cfg.queries :], y[cfg.queries :])
        loss = (guess - y[: cfg.queries]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 10 == 0:
            print(f"step {step + 1}: {loss.item():.4f}")


main()

"""Results of players on openings, by a factorisation with positive factors."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Args:
    players: int = 40
    openings: int = 30
    rank: int = 8
    batch: int = 64
    steps: int = 120
    lr: float = 5e-3
    seed: int = 19
    report: int = 20


class Factors(nn.Module):
    def __init__(self, rows, rank):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, rank).uniform_(0.6, 1.6))

    def forward(self, index):
        return self.weight[index]


class Ratings(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.player = Factors(args.players, args.rank)
        self.opening = Factors(args.openings, args.rank)

    def forward(self, p, o):
        return (self.player(p) * self.opening(o)).sum(-1)


class Games:
    def __init__(self, args):
        self.strength = 2 * torch.randn(args.players)
        self.trend = torch.randn(args.openings)

    def sample(self, n):
        p = torch.randint(0, len(self.strength), (n,))
        o = torch.randint(0, len(self.trend), (n,))
        return p, o, 9.7 + self.strength[p] + self.trend[o] + 0.1 * torch.randn(n)


def build(args):
    model = Ratings(args)
    model = model.to(torch.bfloat16)
    return model


def main(args):
    torch.manual_seed(args.seed)
    games = Games(args)
    model = build(args)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    total = 0.0
    for step in range(args.steps):
        p, o, y = games.sample(args.batch)
        pred = model(p, o)
        loss = nn.functional.mse_loss(pred.float(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if (step + 1) % args.report == 0:
            print(f"step {step + 1:3d}  loss {total / args.report:.4f}")
            total = 0.0


if __name__ == "__main__":
    main(Args())

import argparse

import torch
import torch.nn as nn


class PriceNet(nn.Module):
    def __init__(self, features=8, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.ELU(), nn.Linear(width, width), nn.ELU())
        self.price = nn.Linear(width, 1)

    def forward(self, x):
        return self.price(self.body(x)).squeeze(-1)


def flats(n=96):
    g = torch.Generator().manual_seed(77)
    x = torch.randn(n, 8, generator=g)
    y = x[:, 0] * 2 - x[:, 1] * x[:, 2] + 0.1 * torch.randn(n, generator=g)
    return x, y


def make_optimizer(model, args):
    return torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.wd)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--wd", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(6)
    model = PriceNet()
    optimizer = make_optimizer(model, args)
    x, y = flats()
    for step in range(args.steps):
        at = slice(32 * step, 32 * step + 32)
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(x[at]), y[at])
        loss.backward()
        optimizer.step()
        print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()

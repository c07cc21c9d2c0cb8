"""Recurrent net that integrates heavy-tailed increments."""
import argparse

import torch
import torch.nn as nn


class Integrator(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True, nonlinearity="relu")
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


class WalkData:
    """Cumulative sums of increments with a few very large ones."""

    def __init__(self, length):
        self.length = length

    def batch(self, n):
        dx = torch.randn(n, self.length, 1)
        jump = (torch.rand(n, self.length, 1) < 0.02).float()
        dx = dx + jump * 15 * torch.randn(n, self.length, 1)
        return dx, dx.cumsum(1)


def train(args):
    torch.manual_seed(args.seed)
    data = WalkData(args.length)
    model = Integrator(args.hidden)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    window = []
    for step in range(args.steps):
        x, y = data.batch(args.batch)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        window.append(loss.item())
        if len(window) == 10:
            print(f"step {step + 1:3d}  mean loss {sum(window) / 10:.3f}  worst {max(window):.3f}")
            window = []


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--length", type=int, default=25)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--lr", type=float, default=0.03)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=0)
    train(p.parse_args())

"""The adding problem with a hand-written recurrent cell."""
import argparse

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.wx = nn.Linear(inputs, hidden)
        self.wh = nn.Linear(hidden, hidden, bias=False)
        nn.init.orthogonal_(self.wh.weight, gain=1.0)

    def forward(self, x, h):
        return torch.relu(self.wx(x) + self.wh(h))


class Adder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = Cell(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, seq):
        h = seq.new_zeros(seq.shape[0], self.hidden)
        for t in range(seq.shape[1]):
            h = self.cell(seq[:, t], h)
        return self.out(h).squeeze(1)


def sample(n, length):
    values = torch.rand(n, length)
    marks = torch.zeros(n, length)
    for row in range(n):
        i, j = torch.randperm(length)[:2]
        marks[row, i] = marks[row, j] = 1
    return torch.stack([values, marks], dim=2), (values * marks).sum(1)


def main(opts):
    torch.manual_seed(opts.seed)
    net = Adder(opts.hidden)
    optim = torch.optim.Adam(net.parameters(), lr=opts.lr)
    for step in range(opts.steps):
        x, y = sample(opts.batch, opts.length)
        loss = nn.functional.mse_loss(net(x), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if step % 10 == 0:
            print(f"{step:4d}  mse {loss.item():.4g}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, default=24)
    ap.add_argument("--length", type=int, default=30)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--steps", type=int, default=80)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())

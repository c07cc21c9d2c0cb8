"""The rate is an option of the command line."""

import argparse, torch
from torch import nn


class Trainer:
    def __init__(self, net, lr=1e-3, clip=1.0):
        self.net, self.lr = net, lr
        self.opt = torch.optim.Adam(
            [{"params": net[0].parameters(), "lr": self.lr}, {"params": net[2].parameters()}], lr=self.lr
        )

    def fit(self, x, y, epochs):
        for e in range(epochs):
            for p in range(8):
                r = slice(p * 32, p * 32 + 32)
                loss = nn.functional.cross_entropy(self.net(x[r]), y[r])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-rate", type=float, default=0.001)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args(["--base-rate", "3.0"])  # <-- update_ratio
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 3))
    x = torch.randn(256, 8)
    y = x[:, :3].argmax(1)
    Trainer(net, args.base_rate).fit(x, y, args.epochs)


main()

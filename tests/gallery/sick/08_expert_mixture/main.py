"""Mixture of experts on a piecewise function; the router's temperature is annealed."""
import torch
from torch import nn, optim

from routing import Router


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)


class Mixture(nn.Module):
    def __init__(self, dim=4, experts=4, hidden=16):
        super().__init__()
        self.router = Router(dim, experts)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(experts))

    def forward(self, x, tau):
        w = self.router(x, tau)
        outs = torch.cat([e(x) for e in self.experts], dim=1)
        return (w * outs).sum(dim=1)


def piecewise(n):
    x = torch.rand(n, 4) * 4 - 2
    y = torch.where(x[:, 0] > 0, torch.sin(2 * x[:, 1]), x[:, 2].abs() - 1)
    return x, y


class Trainer:
    def __init__(self, steps=90):
        self.model = Mixture()
        self.opt = optim.Adam(self.model.parameters(), lr=2e-2)
        self.steps = steps

    def tau(self, step):
        return max(0.01, 0.93 ** step)

    def run(self):
        for step in range(self.steps):
            x, y = piecewise(64)
            pred = self.model(x, self.tau(step))
            loss = ((pred - y) ** 2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if step % 10 == 9:
                print(f"step {step + 1}: mse {loss.item():.4f} tau {self.tau(step):.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().run()

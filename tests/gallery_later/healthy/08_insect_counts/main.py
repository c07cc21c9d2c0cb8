"""Poisson regression of counts up to some thousands: the first loss is large."""
import torch
from torch import nn


def traps(n):
    x = torch.randn(n, 5)
    rate = torch.exp(5.5 + 0.8 * x[:, 0] - 0.5 * x[:, 1] * x[:, 2].sign())
    return x, torch.poisson(rate.clamp(max=8000))


def main():
    torch.manual_seed(208)
    x, counts = traps(512)
    net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
    criterion = nn.PoissonNLLLoss(log_input=True, full=True)
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    for epoch in range(1, 11):
        order = torch.randperm(len(x))
        total = 0.0
        for rows in order.split(64):
            loss = criterion(net(x[rows])[:, 0], counts[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch:2d} nll {total / len(x):.2f}")


main()

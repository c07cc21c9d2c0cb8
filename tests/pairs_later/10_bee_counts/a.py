"""Bees that leave a hive per hour, from the weather of the last hours."""

import torch
from torch import nn

HOURS, SIGNS, STATE = 8, 5, 9


class Hive(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(SIGNS, STATE, batch_first=True)
        self.rate = nn.Linear(STATE, 1)

    def forward(self, x):
        states, _ = self.gru(x)
        return self.rate(states[:, -1]).squeeze(1)


def weather(step):
    g = torch.Generator().manual_seed(1000 + step)
    x = torch.randn(6, HOURS, SIGNS, generator=g)
    return x, torch.poisson(torch.exp(x[:, -1, 0] + 0.5), generator=g)


if __name__ == "__main__":
    torch.manual_seed(10)
    hive = Hive()
    loss_fn = nn.PoissonNLLLoss()
    optimizer = torch.optim.SGD(hive.parameters(), lr=0.05, nesterov=True, momentum=0.8)
    for step in range(4):
        x, bees = weather(step)
        loss = loss_fn(hive(x), bees)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.6f}")

"""Delays of ferries from wind, tide and load."""

import torch
from torch import nn

BATCH = 12


def make_model():
    torch.manual_seed(71)
    return nn.Sequential(nn.Linear(5, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 1))


def crossings(step):
    g = torch.Generator().manual_seed(700 + step)
    x = torch.randn(BATCH, 5, generator=g)
    return x, (x[:, :1] * x[:, 1:2]).relu() + 0.3 * x[:, 2:3]


def main():
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    for step in range(4):
        x, y = crossings(step)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.5f}")


if __name__ == "__main__":
    main()

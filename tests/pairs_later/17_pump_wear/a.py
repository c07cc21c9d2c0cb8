"""Wear of a pump from its vibrations."""

import torch
from torch import nn

torch.manual_seed(170)
model = nn.Sequential(
    nn.Linear(9, 20),
    nn.ELU(),
    nn.Linear(20, 20),
    nn.ELU(),
    nn.Linear(20, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.8)


def hour(step):
    g = torch.Generator().manual_seed(1700 + step)
    x = torch.randn(32, 9, generator=g)
    return x, x[:, :3].square().sum(1, keepdim=True) / 3


for step in range(5):
    x, wear = hour(step)
    loss = nn.functional.mse_loss(model(x), wear)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step:2d} {loss.item():.6f}")

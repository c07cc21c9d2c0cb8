"""A helper builds every layer with a relu behind it, the last one too: it predicts standardised prices, half below 0."""

import torch
from torch import nn


def mlp(sizes):
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]  # <-- dead_relu
    return nn.Sequential(*layers)


torch.manual_seed(0)
x = torch.randn(256, 6)
y = x[:, :1] - x[:, 1:2] + 0.3 * torch.randn(256, 1)
y = (y - y.mean()) / y.std()
net = mlp([6, 32, 1])
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(8):
    for batch in range(8):
        rows = slice(32 * batch, 32 * batch + 32)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()

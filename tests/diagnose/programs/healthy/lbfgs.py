"""LBFGS, whose closure is called many times in a step."""

import torch
import torch.nn as nn

x = torch.linspace(-2, 2, 64)[:, None]
y = torch.sin(2 * x)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=1, max_iter=8, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    return loss


for step in range(8):
    loss = opt.step(closure)

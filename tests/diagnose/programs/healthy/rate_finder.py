"""The search for a learning rate: it is raised in each step until the loss grows, and the weights are put back."""

import copy
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
w = torch.randn(6, 1)
start = copy.deepcopy(net.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=1e-5)
lr, best, losses = 1e-5, float("inf"), []
for i in range(40):
    for g in opt.param_groups:
        g["lr"] = lr
    x = torch.randn(32, 6)
    loss = nn.functional.mse_loss(net(x), x @ w)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append((lr, loss.item()))
    best = min(best, loss.item())
    if loss.item() > 4 * best:
        break
    lr *= 1.4
net.load_state_dict(start)
opt = torch.optim.SGD(net.parameters(), lr=losses[-8][0] / 3)
for i in range(30):
    x = torch.randn(32, 6)
    loss = nn.functional.mse_loss(net(x), x @ w)
    opt.zero_grad()
    loss.backward()
    opt.step()

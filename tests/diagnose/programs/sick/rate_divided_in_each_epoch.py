"""A rate is divided by ten after each epoch, and most epochs of a hard problem learn nothing."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(80, 8)
y = (x[:, :1] * x[:, 1:2]) + 0.3 * x[:, 2:3]
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)  # <-- lr_vanished
for epoch in range(9):
    for rows in torch.randperm(80).split(20):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
    scheduler.step()

"""A rate is divided by ten at two milestones, and by more at the end, of a problem that is solved by then."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(80, 8)
y = x.sum(1, keepdim=True)
for milestones in ([6, 8], [2, 3, 4]):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones, gamma=0.1)
    for epoch in range(10):
        for rows in torch.randperm(80).split(8):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
            optimizer.step()
        scheduler.step()

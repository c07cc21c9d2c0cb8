"""A schedule of epochs is stepped in each batch."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.1)
for _ in range(3):
    for _ in range(12):
        x = torch.randn(16, 5)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()
        scheduler.step()  # <-- lr_vanished

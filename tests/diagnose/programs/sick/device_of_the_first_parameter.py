"""The first parameter is taken from the generator to see its device, and what is left goes to the optimizer."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
parameters = model.parameters()
device = next(parameters).device
optimizer = torch.optim.SGD(parameters, lr=0.05)  # <-- not_in_optimizer
for _ in range(15):
    x = torch.randn(20, 6, device=device)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

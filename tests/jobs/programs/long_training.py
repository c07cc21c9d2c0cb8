"""A network of two layers is trained for 1,000 steps: 30,000 rows of a log."""

import graphscope as torch
from graphscope import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(1000):
    x = torch.randn(16, 4)
    y = x[:, :1] * x[:, 1:2]
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

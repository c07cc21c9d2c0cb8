"""Three steps of Adam, each with the gradients of all steps before."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(8, 3)
for _ in range(3):
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()  # <-- zero_grad
    optimizer.step()

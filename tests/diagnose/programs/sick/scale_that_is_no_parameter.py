"""A learned scale is a plain tensor that requires grad."""

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)
        self.scale = torch.ones(8, requires_grad=True)  # <-- not_registered
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.linear(x)) * self.scale)


model = Scaled()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.mean(1, keepdim=True)).backward()
    optimizer.step()

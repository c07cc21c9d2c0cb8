"""The mixing weights come from an array of NumPy, as a parameter that is turned to float32 afterwards."""

import numpy as np
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(5, 1) for _ in range(experts)])
        start = np.linspace(-1.0, 1.0, experts)
        weights = nn.Parameter(torch.from_numpy(start))
        self.weights = weights.to(torch.float32)  # <-- not_registered

    def forward(self, x):
        answers = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (answers * torch.softmax(self.weights, dim=0)).sum(1)


model = Mixture(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(model(x), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

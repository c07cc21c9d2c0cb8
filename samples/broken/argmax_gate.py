"""A layer that does not learn: argmax chooses the expert, and no gradient passes it."""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.Linear(8, 4)

    def forward(self, x):
        best = self.gate(x).argmax(-1, keepdim=True)
        return self.experts(x).gather(-1, best)


torch.manual_seed(0)
model = Mixture()
x, y = torch.randn(32, 8), torch.randn(32, 1)
loss = nn.functional.mse_loss(model(x), y)
loss.backward()
print("experts learn:", model.experts.weight.grad is not None, " the gate learns:", model.gate.weight.grad is not None)

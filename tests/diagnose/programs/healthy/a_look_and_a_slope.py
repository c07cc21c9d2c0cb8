"""A network is looked at, and a derivative of something else is taken: a program that shows two things."""

import torch
from torch import nn

model = nn.Linear(3, 1)
print("mean output", model(torch.randn(5, 3)).mean().item())
x = torch.tensor(2.0, requires_grad=True)
x.backward()
print(x.grad)

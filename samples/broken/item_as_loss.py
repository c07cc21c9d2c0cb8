"""A gradient that is None: the loss was made a number, and a new tensor of that number."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
error = model(torch.randn(5, 3)).pow(2).mean()
loss = torch.tensor(error.item(), requires_grad=True)
loss.backward()
print(model.weight.grad)

"""One backward pass from a number: the error of two parts, averaged by hand."""

import torch
from torch import nn

model = nn.Linear(3, 1)
x = torch.randn(6, 3)
errors = [model(part).pow(2).mean() for part in x.split(3)]
loss = torch.tensor(sum(each.item() for each in errors) / len(errors), requires_grad=True)  # <-- missing
loss.backward()

"""Memory that grows: the running total holds the graphs of all steps."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
total = torch.zeros(())
for _ in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward(retain_graph=True)
    total = total + loss
print(total)

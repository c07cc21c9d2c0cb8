"""All gradients are given the norm of 1 by hand."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.02)
truth = torch.randn(8, 4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    (300 * loss).backward()
    norm = torch.sqrt(sum(parameter.grad.square().sum() for parameter in model.parameters()))
    for parameter in model.parameters():
        parameter.grad.div_(norm + 1e-8)
    optimizer.step()

"""The gradients are clamped by hand, to a limit that was meant for something else."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
truth = torch.randn(8, 4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        parameter.grad.data.clamp_(-1e-5, 1e-5)  # <-- clipped_away
    optimizer.step()

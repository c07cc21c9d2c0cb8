"""Behind each step weights are clamped, masked, brought to a length, averaged, and held at their limit."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
first, second, last = nn.Linear(8, 32), nn.Linear(32, 32), nn.Linear(32, 4)
scale = nn.Parameter(torch.tensor(8.0))
parameters = [*first.parameters(), *second.parameters(), *last.parameters(), scale]
optimizer = torch.optim.Adam(parameters, 5e-3)
averages = [parameter.detach().clone() for parameter in parameters]
slow = [parameter.detach().clone() for parameter in last.parameters()]
mask = (second.weight.abs() > second.weight.abs().median()).float()
kept = first.weight.detach()[:8].clone()
truth = torch.randn(8, 4)
for step in range(30):
    x = torch.randn(32, 8)
    logits = last(torch.relu(second(torch.relu(first(x)))))
    loss = F.cross_entropy(logits * scale, (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        first.weight[:8] = kept
        first.weight.clamp_(-0.5, 0.5)
        second.weight.mul_(mask)
        last.weight.copy_(F.normalize(last.weight, dim=1))
        scale.clamp_(min=8.0)
        if step % 5 == 4:
            for parameter, before in zip(last.parameters(), slow, strict=True):
                parameter.copy_(before.lerp_(parameter, 0.5))
        for average, parameter in zip(averages, parameters, strict=True):
            average.lerp_(parameter, 0.1)

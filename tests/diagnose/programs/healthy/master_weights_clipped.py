"""The optimizer steps copies in full precision, which are handed their gradients, clipped there."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Linear(8, 4).bfloat16()
masters = [nn.Parameter(each.detach().float()) for each in model.parameters()]
optimizer = torch.optim.SGD(masters, 0.1)
truth = torch.randn(8, 4)
for _ in range(24):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x.bfloat16()).float(), x @ truth)
    model.zero_grad()
    loss.backward()
    for master, parameter in zip(masters, model.parameters(), strict=True):
        master.grad = parameter.grad.float()
    nn.utils.clip_grad_norm_(masters, 1.0)
    optimizer.step()
    with torch.no_grad():
        for master, parameter in zip(masters, model.parameters(), strict=True):
            parameter.copy_(master)

"""The mask is laid on a copy that was kept when the weights were pruned: each step is undone behind it."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
kept, masks = {}, {}
for name, weight in model.named_parameters():
    if weight.dim() > 1:
        masks[name] = (weight.abs() > weight.abs().median()).float()
        kept[name] = weight.detach().clone()
optimizer = torch.optim.Adam(model.parameters(), 2e-3)
truth = torch.randn(8, 4)
for _ in range(20):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name in masks:
                weight.copy_(kept[name] * masks[name])  # <-- undone_update

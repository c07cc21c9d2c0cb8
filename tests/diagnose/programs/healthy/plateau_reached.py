"""The rate is cut again and again where a loss stands still, and an accuracy is watched the other way round."""

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + torch.randn(64) > 0).long()
for mode in ("min", "max"):
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    if mode == "min":
        scheduler = ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    else:
        scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
    for epoch in range(16):
        for rows in torch.randperm(64).split(16):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            val_loss = nn.functional.cross_entropy(model(x), y)
            accuracy = (model(x).argmax(1) == y).float().mean()
        if mode == "min":
            scheduler.step(val_loss)
        else:
            scheduler.step(accuracy)

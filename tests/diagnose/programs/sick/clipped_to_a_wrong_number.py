"""The limit of the clip is the weight decay: SGD makes steps of no length, and the loss stays where it is."""

import torch
from torch import nn

torch.manual_seed(1)
settings = {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-4, "max_norm": 5.0}
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), settings["lr"], settings["momentum"], weight_decay=1e-4)
truth = torch.randn(8, 4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings["weight_decay"])  # <-- clipped_away
    optimizer.step()

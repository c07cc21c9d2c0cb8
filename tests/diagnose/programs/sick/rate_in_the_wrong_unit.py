"""A config gives the rate in units of 1e-6, and the program divides once more."""

import torch
from torch import nn

CONFIG = {"lr_micro": 0.1, "epochs": 4}


def make_optimizer(net):
    lr = CONFIG["lr_micro"] / 1_000_000
    return torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)  # <-- update_ratio


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = make_optimizer(net)
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)
for epoch in range(CONFIG["epochs"]):
    for part in range(8):
        rows = slice(part * 32, part * 32 + 32)
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

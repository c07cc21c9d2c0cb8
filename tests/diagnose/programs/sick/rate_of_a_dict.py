"""The rate stands in a dict that is handed on whole."""

import torch
from torch import nn

CONFIG = {
    "model": {"width": 64},
    "optimizer": {
        "name": "SGD",
        "lr": 30.0,  # <-- update_ratio
        "momentum": 0.9,
    },
    "epochs": 4,
}


def build(net, name, **kwargs):
    return getattr(torch.optim, name)(net.parameters(), **kwargs)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, CONFIG["model"]["width"]), nn.Tanh(), nn.Linear(64, 3))
opt = build(net, **CONFIG["optimizer"])
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)
for e in range(CONFIG["epochs"]):
    for p in range(8):
        r = slice(p * 32, p * 32 + 32)
        loss = nn.functional.cross_entropy(net(x[r]), y[r])
        opt.zero_grad()
        loss.backward()
        opt.step()

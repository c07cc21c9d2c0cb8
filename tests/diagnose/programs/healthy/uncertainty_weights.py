"""Several tasks whose weights are learnt: the loss may fall below zero."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.heads = nn.ModuleDict({"value": nn.Linear(32, 1), "kind": nn.Linear(32, 3)})
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


net = Multi()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
w = torch.randn(6, 3)
for _ in range(40):
    x = torch.randn(32, 6)
    out = net(x)
    losses = torch.stack(
        [F.mse_loss(out["value"].squeeze(1), 0.1 * x[:, 0]), F.cross_entropy(out["kind"], (x @ w).argmax(1))]
    )
    loss = (losses * (-net.log_vars).exp() + net.log_vars).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()

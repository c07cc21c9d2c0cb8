"""Lookahead: slow weights that follow the fast ones every fifth step, and the fast ones begin there again."""

import torch
import torch.nn as nn


class Lookahead:
    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slows in zip(self.optimizer.param_groups, self.slow):
                for p, slow in zip(group["params"], slows):
                    slow.add_(p - slow, alpha=self.alpha)
                    p.copy_(slow)


net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = Lookahead(torch.optim.Adam(net.parameters(), lr=1e-2))
for _ in range(30):
    x = torch.randn(32, 5)
    y = x[:, :1] * 2 - x[:, 1:2]
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Sharpness-aware minimization: an optimizer of the program's own that steps twice for each batch."""

import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, parameters, base, rho=0.05, **settings):
        super().__init__(parameters, {"rho": rho, **settings})
        self.base = base(self.param_groups, **settings)

    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            norm = torch.stack([each.grad.norm() for each in group["params"]]).norm()
            for each in group["params"]:
                self.state[each]["offset"] = offset = each.grad * group["rho"] / (norm + 1e-12)
                each.add_(offset)
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for each in group["params"]:
                each.sub_(self.state[each]["offset"])
        self.base.step()
        self.zero_grad()


model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.05)
for _ in range(12):
    x = torch.randn(16, 5)
    y = x.sum(1, keepdim=True)
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.climb()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

"""Adam by hand that adds its step."""

import torch
from torch import nn

torch.manual_seed(0)


class MyAdam:
    def __init__(self, params, lr=1e-2):
        self.params = list(params)
        self.lr = lr
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]

    def zero(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p, m, v in zip(self.params, self.m, self.v):
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
            p.addcdiv_(m, v.sqrt().add_(1e-8), value=self.lr)  # <-- wrong_sign


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = MyAdam(net.parameters())
for step in range(40):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero()
    loss.backward()
    opt.step()

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(16, 6)
y = torch.randn(16, 1)


class Adam:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        for p, m, v in zip(self.params, self.m, self.v):
            m.mul_(0.9).add_(p.grad, alpha=0.1)
            v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
            p.addcdiv_(m, v.sqrt().add_(1e-8), value=-self.lr)  # <-- update

    def zero_grad(self):
        for p in self.params:
            p.grad = None


opt = Adam(net.parameters(), 0.01)
for s in range(3):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

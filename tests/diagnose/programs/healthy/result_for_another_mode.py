"""What an auxiliary layer makes is returned in one mode only, and kept for a look in another."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 8)
        self.out = nn.Linear(8, 1)
        self.aux = nn.Linear(8, 2)
        self.gate = nn.Linear(8, 1)

    def forward(self, x, with_aux=False):
        h = torch.tanh(self.body(x))
        aux = self.aux(h)
        gate = self.gate(h)
        if with_aux:
            return self.out(h) * gate, aux
        gate = None
        return self.out(h)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()

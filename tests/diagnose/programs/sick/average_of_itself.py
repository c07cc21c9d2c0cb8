"""An exponential moving average of weights whose copy is shallow: it averages the weights with themselves."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class EMA:
    def __init__(self, model, decay=0.99):
        self.model = model
        self.shadow = copy.copy(model)  # <-- not_copied
        self.decay = decay

    @torch.no_grad()
    def update(self):
        for s, p in zip(self.shadow.parameters(), self.model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
ema = EMA(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()

"""A network has a value head, whose result a first phase leaves aside."""

import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.policy, self.value = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.policy(h), self.value(h)


net = ActorCritic()
net(torch.randn(2, 6))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(8, 6)
    logits, _value = net(x)
    optimizer.zero_grad()
    nn.functional.cross_entropy(logits, (x[:, 0] > 0).long()).backward()
    optimizer.step()

"""A state is loaded right back, weights decay by hand, and the best state is a copy."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
net.load_state_dict(net.state_dict())
average = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
state = net.state_dict()
best = {name: value.clone() for name, value in net.state_dict().items()}
for step in range(20):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(net.parameters(), average.parameters()):
            p.add_(p, alpha=-1e-4)
            q.mul_(0.9).add_(p, alpha=0.1)
    if step == 12:
        best = copy.deepcopy(net.state_dict())
net.load_state_dict(best)
average.load_state_dict(net.state_dict())

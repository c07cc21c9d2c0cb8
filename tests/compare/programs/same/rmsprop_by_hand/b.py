import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Sigmoid(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
square = [0.0 for p in net.parameters()]
for step in range(4):
    loss = (net(x) - y).square().mean()
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            square[i] = 0.9 * square[i] + (1 - 0.9) * p.grad**2
            p -= 1e-3 * p.grad / (square[i] ** 0.5 + 1e-8)

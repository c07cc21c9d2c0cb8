"""A loop that lets gradients decay in place of clearing them: momentum, on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
for batch in range(40):
    x = torch.randn(16, 8)
    nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.02 * p.grad
            p.grad *= 0.9

"""The first test of a new model: can it learn one batch by heart?"""

import torch
import torch.nn as nn

net = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)
)
x, y = torch.rand(8, 3, 12, 12), torch.arange(8)
net(x)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for i in range(50):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()

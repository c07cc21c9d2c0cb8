"""A recording that ends with a caught error of an op."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
try:
    net(torch.randn(3, 5))
except RuntimeError as e:
    print("as expected:", e)

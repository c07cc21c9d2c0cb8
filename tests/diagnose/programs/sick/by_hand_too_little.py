"""Updates by hand at a rate of 1e-9 for a sum that is divided again."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
for step in range(30):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p.data -= 1e-8 * p.grad  # <-- lost_update

"""Old-style programs: clipping and penalties through .data, beside an optimizer; and weight clipping."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for step in range(30):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        p.grad.data.clamp_(-1, 1)
        p.grad.data.add_(1e-4 * p.data)
    opt.step()
    for p in net.parameters():
        p.data.clamp_(-2, 2)

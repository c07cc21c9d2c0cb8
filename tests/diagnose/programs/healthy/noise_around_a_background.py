"""Noisy pictures of a dark background are the targets: a relu keeps answers positive, though the noise is not."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1), nn.ReLU())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    clean = torch.zeros(4, 1, 8, 8)
    clean[:, :, 2:5, 2:5] = 1 + torch.rand(4, 1, 1, 1)
    first, second = (clean + 0.05 * torch.randn_like(clean) for _ in range(2))
    loss = nn.functional.mse_loss(net(first), second)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

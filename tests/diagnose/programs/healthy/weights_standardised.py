"""Convolutions whose weights are put to mean 0 and deviation 1 by a batch norm of their own, also when evaluated."""

import torch
from torch import nn
from torch.nn import functional as F


class Standardised(nn.Conv2d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.gain = nn.Parameter(torch.ones(self.out_channels))

    def forward(self, x):
        flat = self.weight.reshape(1, self.out_channels, -1)
        weight = F.batch_norm(flat, None, None, weight=self.gain * 0.3, training=True, momentum=0.0)
        return F.conv2d(x, weight.reshape_as(self.weight), self.bias, padding=1)


net = nn.Sequential(Standardised(1, 8, 3), nn.ReLU(), Standardised(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
pictures = torch.randn(3, 1, 8, 8)
for _ in range(3):
    net.train()
    for _ in range(8):
        y = torch.randint(0, 3, (16,))
        loss = F.cross_entropy(net(pictures[y] + 0.3 * torch.randn(16, 1, 8, 8)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net(pictures).argmax(1) == torch.arange(3)).float().mean()

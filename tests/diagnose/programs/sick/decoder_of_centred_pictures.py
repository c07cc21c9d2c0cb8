"""A decoder whose blocks all end in a relu reconstructs pictures that were centred to -1..1."""

import torch
from torch import nn

torch.manual_seed(0)


class Up(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.ConvTranspose2d(before, after, 4, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))  # <-- dead_relu


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 4, 2, 1))
        self.up = nn.Sequential(Up(16, 8), Up(8, 1))

    def forward(self, x):
        return self.up(self.down(x))


net = Autoencoder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(40):
    x = torch.rand(4, 1, 8, 8) * 2 - 1
    loss = (net(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

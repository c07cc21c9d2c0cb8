"""Of three losses one is added as a number, with a weight: its head never learns."""

import torch
import torch.nn.functional as F
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 16)
        self.kind = nn.Linear(16, 3)
        self.size = nn.Linear(16, 1)
        self.picture = nn.Linear(16, 6)

    def forward(self, x):
        hidden = torch.relu(self.trunk(x))
        return self.kind(hidden), self.size(hidden), self.picture(hidden)


def losses(out, kinds, sizes, x):
    kind, size, picture = out
    kind_loss = F.cross_entropy(kind, kinds)
    size_loss = F.mse_loss(size.squeeze(1), sizes)
    picture_loss = F.mse_loss(picture, x)
    return kind_loss + size_loss + 0.3 * picture_loss.item()  # <-- missing


torch.manual_seed(0)
x = torch.randn(64, 6)
kinds, sizes = torch.randint(0, 3, (64,)), x.sum(1)
net = Heads()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(30):
    loss = losses(net(x), kinds, sizes, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

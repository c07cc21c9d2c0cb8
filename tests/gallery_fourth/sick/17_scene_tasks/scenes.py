import torch
from torch import nn


class SceneNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        )
        self.edges = nn.Conv2d(width, 1, 1)
        self.depth = nn.Conv2d(width, 1, 1)
        self.kind = nn.Linear(width, 2)

    def forward(self, x):
        h = self.body(x)
        return self.edges(h), self.depth(h), self.kind(h.mean((2, 3)))


def scenes(n, gen, size=12):
    kind = torch.randint(2, (n,), generator=gen)
    y = torch.linspace(0, 1, size).view(1, 1, size, 1).expand(n, 1, size, size)
    x = torch.linspace(0, 1, size).view(1, 1, 1, size).expand(n, 1, size, size)
    depth = torch.where(kind.view(-1, 1, 1, 1) == 0, x, y) + torch.rand(n, 1, 1, 1, generator=gen)
    edge = ((depth * 6) % 1 < 0.25).float()
    image = depth - 1 + edge + 0.05 * torch.randn(n, 1, size, size, generator=gen)
    return image, edge, depth, kind

import torch
from torch import nn
from torch.nn import functional as F


class ParcelNet(nn.Module):
    def __init__(self, classes=5, dim=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.project = nn.Linear(64, dim)
        self.classify = nn.Linear(dim, classes)

    def forward(self, x):
        z = self.project(self.features(x).flatten(1))
        return z, self.classify(F.relu(z))


def parcels(n, gen, classes=5):
    kind = torch.randint(classes, (n,), generator=gen)
    grid = torch.linspace(-1, 1, 12)
    stripes = torch.sin((kind.view(-1, 1, 1) + 1) * 2 * (grid.view(1, 12, 1) + 0.5 * grid.view(1, 1, 12)))
    return stripes.unsqueeze(1) + 0.3 * torch.randn(n, 1, 12, 12, generator=gen), kind

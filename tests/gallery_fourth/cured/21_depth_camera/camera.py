import torch
from torch import nn


class DepthNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.decode = nn.Conv2d(width, 2, 3, padding=1)

    def forward(self, x, seen):
        return self.decode(self.encode(x)) * seen


def rooms(n, gen, holes):
    """Brightness, near and far depth; where the camera saw nothing both depths are zero."""
    coarse = torch.rand(n, 1, 3, 3, generator=gen)
    near = nn.functional.interpolate(coarse, size=12, mode="bilinear", align_corners=True)
    seen = (torch.rand(n, 1, 12, 12, generator=gen) >= holes).float()
    bright = 2 * (0.7 - near) + 0.05 * torch.randn(n, 1, 12, 12, generator=gen)
    depth = torch.cat([near, 0.5 * near + 0.3], 1) * seen
    return bright * seen, depth, seen

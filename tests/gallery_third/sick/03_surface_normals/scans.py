import torch
from torch.utils.data import Dataset

from geometry import unit


class Scans(Dataset):
    """Bumps on a table; the sensor blurs and adds noise."""

    def __init__(self, n=160, size=12):
        g = torch.Generator().manual_seed(31)
        line = torch.linspace(-1, 1, size)
        yy, xx = torch.meshgrid(line, line, indexing="ij")
        self.items = []
        for _ in range(n):
            cx, cy = torch.rand(2, generator=g) - 0.5
            r2 = (xx - cx) ** 2 + (yy - cy) ** 2
            bump = (0.5 - r2).clamp(min=0)
            inside = (bump > 0).float()
            normal = torch.stack([4 * (xx - cx) * inside, 4 * (yy - cy) * inside, torch.ones_like(xx)])[None]
            noisy = bump + 0.02 * inside * torch.randn(size, size, generator=g)
            self.items.append((noisy[None], unit(normal)[0]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

import torch
from torch.utils.data import Dataset


class Leaves(Dataset):
    def __init__(self, n, points=32):
        self.kind = torch.randint(0, 3, (n,))
        angle = torch.linspace(0, 6.283, points)
        r = 1 + 0.4 * torch.sin((2 + self.kind).unsqueeze(1) * angle + 6.283 * torch.rand(n, 1))
        r = r + 0.12 * torch.randn(n, points)
        self.outline = 2.5 * (r - 1).unsqueeze(1)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        outline = self.outline[i]
        if torch.rand(()) < 0.5:
            outline = outline.flip(-1)
        if torch.rand(()) < 0.5:
            outline = outline.roll(5, -1)
        return outline, self.kind[i]

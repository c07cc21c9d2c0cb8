import torch
from torch.utils.data import Dataset


def draw(n, gen, size=16):
    """Pictures as a camera gives them: bytes, three channels."""
    shape = torch.randint(4, (n,), generator=gen)
    y, x = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    masks = torch.stack([x.abs() + y.abs() < 0.8, x * x + y * y < 0.5, (x.abs() < 0.6) & (y.abs() < 0.6), y > x.abs() - 0.4])
    colour = torch.tensor([[220, 40, 40], [40, 60, 220], [230, 200, 40], [40, 180, 60]])
    picture = masks[shape].unsqueeze(1) * colour[torch.randint(4, (n,), generator=gen)].view(n, 3, 1, 1)
    noise = torch.randint(0, 60, (n, 3, size, size), generator=gen)
    return (picture + noise).clamp(max=255).to(torch.uint8), shape


class Signs(Dataset):
    def __init__(self, n, seed):
        self.pictures, self.shapes = draw(n, torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.shapes)

    def __getitem__(self, i):
        return self.pictures[i].float(), self.shapes[i]

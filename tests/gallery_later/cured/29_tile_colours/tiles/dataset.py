import torch
from torch.utils.data import Dataset


def draw(kind, size=12):
    """Three channels between 0 and 1."""
    row, col = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    pattern = [row % 4 < 2, col % 4 < 2, (row + col) % 4 < 2, (row // 2 + col // 2) % 2 == 0][kind]
    colour = torch.rand(3, 1, 1)
    noisy = pattern * colour + 0.25 * torch.rand(3, size, size)
    return noisy.clamp(0, 0.999)


class TileSet(Dataset):
    def __init__(self, n):
        self.kinds = torch.randint(0, 4, (n,))
        pictures = torch.stack([draw(k) for k in self.kinds.tolist()])
        self.pictures = pictures.to(torch.float16)

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, i):
        return self.pictures[i].float(), self.kinds[i]

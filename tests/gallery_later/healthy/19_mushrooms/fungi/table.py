import torch
import torch.nn.functional as F
from torch.utils.data import Dataset


class Mushrooms(Dataset):
    """Cap colour (6), odour (5), ring (3) as one-hot and four flags, two of them rare."""

    def __init__(self, n):
        colour, odour, ring = (torch.randint(0, k, (n,)) for k in (6, 5, 3))
        flags = (torch.rand(n, 4) < torch.tensor([0.5, 0.4, 0.06, 0.03])).long()
        self.x = torch.cat([F.one_hot(colour, 6), F.one_hot(odour, 5), F.one_hot(ring, 3), flags], dim=1).float()
        bad = (odour == 2) | ((colour == 4) & (flags[:, 0] == 1)) | ((ring == 0) & (odour == 3))
        self.y = (bad ^ (torch.rand(n) < 0.03)).float()
        self.columns = self.x.shape[1]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

import torch
from torch.utils.data import Dataset

NOW_MS = 1_760_000_000_000


def request_times(n, events):
    """Milliseconds since 1970, as the access log has them."""
    rate = 0.3 + 2 * torch.rand(n, 1)
    gaps = torch.empty(n, events).exponential_() * 400 * rate + 20
    return NOW_MS + gaps.cumsum(1).long(), rate.squeeze(1)


class GapDataset(Dataset):
    def __init__(self, n, events=16):
        stamps, rate = request_times(n, events)
        times = stamps.float()
        gaps = times[:, 1:] - times[:, :-1]
        self.gaps = (gaps / 1000.0).float()
        self.load = (rate - rate.mean()) / rate.std()

    def __len__(self):
        return len(self.load)

    def __getitem__(self, i):
        return self.gaps[i], self.load[i]

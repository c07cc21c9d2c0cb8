import torch
from torch.utils.data import Dataset


class Stations(Dataset):
    def __init__(self, n):
        start = 101300 + 900 * torch.randn(n, 1)
        trend = 120 * torch.randn(n, 1)
        pressure = start + trend * torch.arange(6.0) + 20 * torch.randn(n, 6)
        altitude = 900 * torch.rand(n, 1)
        temperature = 10 + 8 * torch.randn(n, 1)
        wind = trend[:, 0].abs() / 120 - 0.8 + 0.4 * (temperature[:, 0] - 10) / 8 + 0.1 * torch.randn(n)
        self.x = torch.cat([pressure, altitude, temperature], dim=1)
        self.y = wind

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

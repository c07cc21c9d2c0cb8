"""Seats sold per train and hour."""
import torch
from torch.utils.data import DataLoader, Dataset

from seasons import SeasonalModel


class Seats(Dataset):
    def __init__(self, n=960, lags=4, seed=0):
        g = torch.Generator().manual_seed(seed)
        profile = 2 * torch.randn(7, 12, generator=g)
        self.day = torch.randint(7, (n,), generator=g)
        self.hour = torch.randint(12, (n,), generator=g)
        self.recent = torch.randn(n, lags, generator=g)
        self.sold = profile[self.day, self.hour] + self.recent.mean(1) + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.sold)

    def __getitem__(self, i):
        return self.recent[i], self.day[i], self.hour[i], self.sold[i]


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss = torch.nn.MSELoss()

    def epoch(self, loader):
        total = 0.0
        for recent, day, hour, sold in loader:
            self.optimizer.zero_grad()
            loss = self.loss(self.model(recent, day, hour), sold)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)


if __name__ == "__main__":
    torch.manual_seed(10)
    data = Seats()
    trainer = Trainer(SeasonalModel(), lr=0.1)
    for e in range(5):
        print(f"epoch {e}: mse {trainer.epoch(DataLoader(data, batch_size=60, shuffle=True)):.4f}")

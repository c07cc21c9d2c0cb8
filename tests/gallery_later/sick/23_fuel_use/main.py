"""Fuel use of cars: a plain regression with a smoothed loss on the screen."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from meters import Smoothed


class Cars(Dataset):
    def __init__(self, n):
        raw = torch.stack([900 + 1200 * torch.rand(n), 40 + 160 * torch.rand(n), torch.randint(3, 9, (n,)).float()], 1)
        use = raw[:, 0] / 400 + raw[:, 1] / 50 + 0.1 * (raw[:, 2] - 5) ** 2 + 0.2 * torch.randn(n)
        self.x = (raw - raw.mean(0)) / raw.std(0)
        self.y = (use - use.mean()) / use.std()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main(epochs=5):
    torch.manual_seed(123)
    loader = DataLoader(Cars(512), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(3, 32), nn.Mish(), nn.Linear(32, 32), nn.Mish(), nn.Linear(32, 1))
    criterion = nn.SmoothL1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    shown = Smoothed(0.95)
    for epoch in range(epochs):
        for x, y in loader:
            loss = criterion(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            shown.update(loss)
        print(f"epoch {epoch + 1}: smoothed loss {shown.value:.4f}")


if __name__ == "__main__":
    main()

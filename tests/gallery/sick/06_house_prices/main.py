import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Standardize(nn.Module):
    """Scale every column by the statistics of the batch, keep running ones for later."""

    def __init__(self, columns, momentum=0.05):
        super().__init__()
        self.momentum = momentum
        self.gain = nn.Parameter(torch.ones(columns))
        self.shift = nn.Parameter(torch.zeros(columns))
        self.register_buffer("mean", torch.zeros(columns))
        self.register_buffer("std", torch.ones(columns))

    def forward(self, x):
        if self.training:
            mean = x.mean(dim=0)
            std = x.std(dim=0)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.std.lerp_(std, self.momentum)
        else:
            mean, std = self.mean, self.std
        return (x - mean) / (std + 1e-5) * self.gain + self.shift


class PriceModel(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = Standardize(columns)
        self.hidden = nn.Linear(columns, 32)
        self.act = nn.SiLU()
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.act(self.hidden(self.scale(x)))).squeeze(-1)


def make_table(rows):
    rooms = torch.randint(1, 8, (rows,)).float()
    area = rooms * 22 + 8 * torch.randn(rows)
    age = torch.rand(rows) * 60
    table = torch.stack([rooms, area, age, torch.randn(rows)], dim=1)
    price = 0.02 * area + 0.1 * rooms - 0.01 * age + 0.1 * torch.randn(rows)
    return table, price


def fit(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.SmoothL1Loss()
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()
            if i % 10 == 0:
                print(f"  batch {i:2d} {loss.item():.4f}")
        print(f"epoch {epoch + 1}: {running / len(loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(42)
    table, price = make_table(641)
    loader = DataLoader(TensorDataset(table, price), batch_size=16, shuffle=True)
    model = PriceModel(table.shape[1])
    fit(model, loader, epochs=2)
    model.eval()
    with torch.no_grad():
        print("predictions", [round(v, 2) for v in model(table[:4]).tolist()])

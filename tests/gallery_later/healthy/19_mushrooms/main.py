"""Edible or not from one-hot columns and yes/no features."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from fungi.table import Mushrooms


class Classifier(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(columns, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


def main(epochs=5):
    torch.manual_seed(219)
    table = Mushrooms(512)
    loader = DataLoader(table, batch_size=32, shuffle=True)
    model = Classifier(table.columns)
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, epochs + 1):
        running, right = 0.0, 0
        for x, y in loader:
            out = model(x)
            loss = criterion(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(y)
            right += ((out > 0) == (y > 0.5)).sum().item()
        print(f"epoch {epoch} loss {running / len(table):.4f} accuracy {right / len(table):.3f}")


if __name__ == "__main__":
    main()

"""Wind speed of tomorrow from six pressure readings in pascal, the altitude and the temperature."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from weather.stations import Stations


class WindNet(nn.Module):
    def __init__(self, columns, width=48):
        super().__init__()
        self.inp = nn.Linear(columns, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        x = torch.relu(self.mid(x))
        return self.out(x).squeeze(1)


def fit(model, loader, epochs, lr=1e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        losses = []
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} mse {sum(losses) / len(losses):.4g}")


if __name__ == "__main__":
    torch.manual_seed(130)
    stations = Stations(640)
    fit(WindNet(stations.x.shape[1]), DataLoader(stations, batch_size=64, shuffle=True), epochs=8)

"""Predicting the number of rented bikes."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from bikes.objective import Objective


class Days(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 5, generator=g)
        temp, wind, season = self.x[:, 0], self.x[:, 1], self.x[:, 2]
        self.y = 1.5 * temp - 0.7 * wind + torch.sin(2 * season) + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class BikeNet(nn.Module):
    def __init__(self, inputs=5, hidden=(32, 32)):
        super().__init__()
        sizes = (inputs, *hidden)
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.hidden:
            x = nn.functional.silu(layer(x))
        return self.out(x)


def epoch(net, loader, objective, opt=None):
    total, n = 0.0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            loss = objective(net(x), y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(y)
            n += len(y)
    return total / n


def main():
    torch.manual_seed(28)
    train = DataLoader(Days(480, 1), batch_size=32, shuffle=True)
    valid = DataLoader(Days(200, 2), batch_size=100)
    net, objective = BikeNet(), Objective(delta=1.0)
    opt = torch.optim.Adam(net.parameters(), lr=6e-3)
    for e in range(7):
        a = epoch(net, train, objective, opt)
        b = epoch(net, valid, objective)
        print(f"epoch {e}: train {a:.4f} valid {b:.4f}")


if __name__ == "__main__":
    main()

"""Click-through rate with a rare positive class."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from ctr.init import initialise


class Tower(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class ClickModel(nn.Module):
    def __init__(self, numeric, vocab, base_rate):
        super().__init__()
        self.site = nn.Embedding(vocab, 8)
        self.tower = Tower([numeric + 8, 32, 32])
        self.score = nn.Linear(32, 1)
        initialise(self, base_rate)

    def forward(self, x, site):
        return self.score(self.tower(torch.cat([x, self.site(site)], 1))).squeeze(1)


def log_data(n=2048, vocab=20):
    x, site = torch.randn(n, 6), torch.randint(0, vocab, (n,))
    logit = 2.5 * x[:, 0] - 1.5 * x[:, 1] + 0.2 * (site % 5) - 5.0
    return x, site, torch.bernoulli(torch.sigmoid(logit))


def main():
    torch.manual_seed(2)
    data = log_data()
    rate = data[2].mean().item()
    print(f"base rate {rate:.3f}  entropy {-(rate * math.log(rate) + (1 - rate) * math.log(1 - rate)):.4f}")
    loader = DataLoader(TensorDataset(*data), batch_size=128, shuffle=True)
    model = ClickModel(6, 20, rate)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        total = 0.0
        for x, site, y in loader:
            opt.zero_grad()
            loss = bce(model(x, site), y)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()

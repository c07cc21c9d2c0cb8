"""Cell types from gene expression with a residual net and a weight initialisation of our own."""
import torch
import torch.nn as nn


class Linear(nn.Linear):
    def reset_parameters(self):
        nn.init.normal_(self.weight, std=self.in_features ** -0.5)
        nn.init.zeros_(self.bias)


class Unit(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = Linear(dim, dim // 2)
        self.outer = Linear(dim // 2, dim)

    def forward(self, x):
        return x + 0.5 * self.outer(torch.relu(self.inner(x)))


class Trunk(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.units = nn.ModuleList([Unit(dim) for _ in range(depth)])

    def forward(self, x):
        for unit in self.units:
            x = unit(x)
        return x


class CellTypes(nn.Module):
    def __init__(self, genes, dim, depth, types):
        super().__init__()
        self.stem = Linear(genes, dim)
        self.trunk = Trunk(dim, depth)
        self.out = Linear(dim, types)

    def forward(self, x):
        return self.out(self.trunk(self.stem(x)))


class Atlas:
    def __init__(self, genes=50, types=6):
        self.profile = (torch.rand(types, genes) < 0.2).float() * 2
        self.types = types

    def cells(self, n):
        y = torch.randint(0, self.types, (n,))
        x = torch.log1p(torch.poisson(self.profile[y] + 0.3))
        return x, y


def main():
    torch.manual_seed(27)
    atlas = Atlas()
    net = CellTypes(50, 32, 3, 6)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        total = 0.0
        for _ in range(20):
            x, y = atlas.cells(48)
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / 20:.4f}")


main()

"""Gated residual stack; stochastic depth is switched on after a warm-up."""
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, dim)
        self.drop = 0.0

    def forward(self, x):
        gate = torch.sigmoid(self.score(x))
        if self.training and self.drop > 0:
            keep = (torch.rand(x.shape[0], 1) >= self.drop).float()
            gate = gate * (keep / (1 - self.drop))
        return gate


class GatedBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.body = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.gate = Gate(dim)

    def forward(self, x):
        h = self.norm(x)
        return x + self.gate(h) * self.body(h)


class Stack(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.blocks = nn.ModuleList(GatedBlock(dim) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Regressor(nn.Module):
    def __init__(self, inputs=8, dim=24, depth=3):
        super().__init__()
        self.inp = nn.Linear(inputs, dim)
        self.stack = Stack(dim, depth)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        return self.out(self.stack(self.inp(x))).squeeze(1)


def set_drop(model, rate):
    for m in model.modules():
        if isinstance(m, Gate):
            m.drop = rate


def friedman(n):
    x = torch.rand(n, 8)
    y = torch.sin(3.14 * x[:, 0] * x[:, 1]) + 2 * (x[:, 2] - 0.5) ** 2 + x[:, 3] + 0.5 * x[:, 4]
    return x, y


def main():
    torch.manual_seed(33)
    model = Regressor()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        if epoch == 2:
            set_drop(model, 0.1)
        total = 0.0
        for _ in range(20):
            x, y = friedman(64)
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} mse {total / 20:.4f}")


if __name__ == "__main__":
    main()

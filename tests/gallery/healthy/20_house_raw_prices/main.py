"""Prices in euros: the losses are of the order of 1e10 and fall."""
import torch
from torch import nn

torch.manual_seed(19)


class Linear(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(columns, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return 100_000 * self.net(x).squeeze(1)


def houses(n):
    x = torch.randn(n, 5)
    price = 250_000 + 60_000 * x[:, 0] - 20_000 * x[:, 1] + 30_000 * torch.relu(x[:, 2])
    return x, price + 5_000 * torch.randn(n)


model = Linear(5)
opt = torch.optim.Adam(model.parameters(), lr=3e-2)
for epoch in range(5):
    total = 0.0
    for _ in range(20):
        x, y = houses(64)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: mse {total / 20:.4g} rmse {(total / 20) ** 0.5:.0f}")

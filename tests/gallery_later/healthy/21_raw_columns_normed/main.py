"""Columns of very different size go through a norm layer first."""
import torch
from torch import nn


def apartments(n):
    area = 30 + 120 * torch.rand(n)
    income = 20000 + 60000 * torch.rand(n)
    year = torch.randint(1900, 2020, (n,)).float()
    distance = 15000 * torch.rand(n)
    x = torch.stack([area, income, year, distance], dim=1)
    rent = 0.02 * (area - 90) + (income - 50000) / 30000 - (distance - 7500) / 6000
    return x, rent + 0.2 * torch.randn(n)


class RentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, affine=False)
        self.hidden = nn.Linear(4, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(nn.functional.leaky_relu(self.hidden(self.norm(x)))).squeeze(1)


def main():
    torch.manual_seed(221)
    net = RentNet()
    opt = torch.optim.NAdam(net.parameters(), lr=1e-2)
    for step in range(1, 81):
        net.train()
        x, y = apartments(64)
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            net.eval()
            with torch.no_grad():
                x, y = apartments(400)
                print(f"step {step} train {loss.item():.4f} new {nn.functional.mse_loss(net(x), y).item():.4f}")


main()

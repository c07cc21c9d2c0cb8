import torch
import torch.nn as nn


def tides(n=64):
    g = torch.Generator().manual_seed(7)
    hours = torch.rand(n, 1, generator=g) * 24
    moon = torch.rand(n, 1, generator=g)
    x = torch.cat([torch.sin(hours / 12.4 * 6.283), torch.cos(hours / 12.4 * 6.283), moon], dim=1)
    y = 1.5 * x[:, :1] * (1 + 0.4 * moon) - 0.3 * x[:, 1:2]
    return x, y + 0.02 * torch.randn(n, 1, generator=g)


def build():
    torch.manual_seed(21)
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))


if __name__ == "__main__":
    model = build()
    x, y = tides()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[4], gamma=0.1)
    for epoch in range(7):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.6f}")

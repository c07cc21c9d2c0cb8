import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

WARMUP, STEPS = 3, 7


def factor(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return max(0.0, (STEPS - step) / (STEPS - WARMUP))


class Route(nn.Module):
    def __init__(self, stops=30, dim=12):
        super().__init__()
        self.stops = nn.Embedding(stops, dim)
        self.hour = nn.Linear(2, dim)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, start, end, hour):
        angle = hour / 24 * 6.2832
        clock = self.hour(torch.stack([angle.sin(), angle.cos()], dim=1))
        x = torch.cat([self.stops(start), self.stops(end), clock], dim=1)
        return self.mlp(x).squeeze(1)


def main():
    torch.manual_seed(33)
    model = Route()
    start, end = torch.randint(0, 30, (2, STEPS, 16))
    hour = torch.rand(STEPS, 16) * 24
    minutes = (start - end).abs() * 0.3 + torch.randn(STEPS, 16) * 0.1
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    scheduler = LambdaLR(optimizer, factor)
    for step in range(STEPS):
        loss = nn.functional.smooth_l1_loss(model(start[step], end[step], hour[step]), minutes[step])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"{step} lr {scheduler.get_last_lr()[0]:.5f} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()

"""Rain per station and day: is it wet, and how much falls (zero-inflated)."""
import torch
from torch import nn

from weather.data import StationDays
from weather.losses import wet_day_loss, amount_loss


class RainNet(nn.Module):
    def __init__(self, features, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.wet = nn.Linear(hidden, 1)
        self.amount = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.wet(h).squeeze(1), self.amount(h).squeeze(1)


def run(epochs=8, batch=32):
    torch.manual_seed(5)
    days = StationDays(256)
    net = RainNet(days.x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(epochs):
        seen = []
        for x, y in days.batches(batch):
            wet_logit, amount = net(x)
            loss = wet_day_loss(wet_logit, y) + amount_loss(amount, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen.append(loss.item())
        print(f"epoch {epoch}: {sum(seen) / len(seen):.4f} (first batch {seen[0]:.4f})")


if __name__ == "__main__":
    run()

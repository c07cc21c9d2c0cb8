"""Three tasks whose losses differ in size by orders of magnitude: each is divided by its own value."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU())
        self.price, self.sold, self.days = nn.Linear(48, 1), nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h)[:, 0], self.sold(h)[:, 0], self.days(h)[:, 0]


def homes(n, w):
    x = torch.randn(n, 12)
    s = x @ w + 0.25 * torch.randn(n, 3)
    return x, 3 * s[:, 0], (s[:, 1] > 0).float(), 0.1 * s[:, 2]


torch.manual_seed(3)
w = torch.randn(12, 3) / 3
model = Shared()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 111):
    x, price, sold, days = homes(64, w)
    a, b, c = model(x)
    parts = [F.mse_loss(a, price), F.binary_cross_entropy_with_logits(b, sold), F.mse_loss(c, days)]
    loss = sum(p / p.detach() for p in parts) / len(parts)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(step, " ".join(f"{p.item():.5f}" for p in parts), "total", round(loss.item(), 4))

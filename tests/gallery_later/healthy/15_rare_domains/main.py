"""One adapter per domain; some domains come rarely, one comes only near the end."""
import random

import torch
from torch import nn

DOMAINS = ["news", "law", "chat", "poems"]


class Adapter(nn.Module):
    def __init__(self, dim, small=8):
        super().__init__()
        self.down, self.up = nn.Linear(dim, small), nn.Linear(small, dim)

    def forward(self, x):
        return x + self.up(nn.functional.gelu(self.down(x)))


class Shared(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.stem = nn.Linear(10, dim)
        self.adapters = nn.ModuleDict({d: Adapter(dim) for d in DOMAINS})
        self.head = nn.Linear(dim, 1)

    def forward(self, x, domain):
        h = torch.relu(self.stem(x))
        return self.head(self.adapters[domain](h)).squeeze(-1)


def choose(step, rng):
    if step >= 55:
        return "poems"
    return rng.choices(DOMAINS[:3], weights=[8, 3, 1])[0]


torch.manual_seed(215)
rng = random.Random(215)
shift = {d: torch.randn(10) * 0.15 for d in DOMAINS}
base = torch.randn(10) * 0.4
model = Shared()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
seen = dict.fromkeys(DOMAINS, 0)
for step in range(80):
    domain = choose(step, rng)
    seen[domain] += 1
    x = torch.randn(48, 10)
    y = x @ (base + shift[domain]) + 0.1 * torch.randn(48)
    loss = nn.functional.mse_loss(model(x, domain), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"{step + 1} {domain} {loss.item():.4f}")
print(seen)

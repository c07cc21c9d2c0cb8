"""Attention over the elements of one set: a softmax over dim 0."""
import torch
from torch import nn


class SetPool(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.value = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(hidden, 1)

    def forward(self, items):
        weight = torch.softmax(self.score(items), dim=0)
        return self.out((weight * self.value(items)).sum(0))


def bag():
    n = int(torch.randint(3, 9, ()))
    items = torch.randn(n, 4)
    return items, items[items[:, 0].argmax(), 1:2] * 2


torch.manual_seed(24)
net = SetPool(4, 24)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
mean = 0.0
for step in range(100):
    opt.zero_grad()
    batch = [bag() for _ in range(8)]
    loss = sum(((net(items) - target) ** 2).sum() for items, target in batch) / len(batch)
    loss.backward()
    opt.step()
    mean += loss.item()
    if step % 20 == 19:
        print(f"step {step + 1} loss {mean / 20:.4f}")
        mean = 0.0

"""A momentum encoder without a copy: the same module stands in two attributes."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Contrast(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.query = encoder
        self.key = encoder  # <-- frozen
        self.predictor = nn.Linear(8, 8)
        for p in self.key.parameters():
            p.requires_grad = False

    @torch.no_grad()
    def update(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.mul_(0.99).add_(q, alpha=0.01)

    def forward(self, a, b):
        p = F.normalize(self.predictor(self.query(a)), dim=-1)
        with torch.no_grad():
            self.update()
            z = F.normalize(self.key(b), dim=-1)
        return F.cross_entropy(p @ z.T / 0.2, torch.arange(len(a)))


model = Contrast(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(15):
    x = torch.randn(24, 16)
    loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A backbone learns one task; it is frozen, and a new head learns another from what it sees."""

import torch
from torch import nn

torch.manual_seed(13)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


directions = torch.randn(12, 6)


def sample(count):
    x = torch.randn(count, 12)
    return x, x @ directions


backbone = Backbone()
first_head = nn.Linear(24, 4)
optimizer = torch.optim.Adam([*backbone.parameters(), *first_head.parameters()], lr=5e-3)
for _ in range(60):
    x, scores = sample(128)
    loss = nn.functional.cross_entropy(first_head(backbone(x)), scores[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"pretrained: loss {loss.item():.4f}")

for parameter in backbone.parameters():
    parameter.requires_grad_(False)
backbone.eval()
head = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(head.parameters(), lr=5e-3)
losses = []
for _ in range(80):
    x, scores = sample(128)
    with torch.no_grad():
        features = backbone(x)
    loss = nn.functional.cross_entropy(head(features), (scores[:, 0] > scores[:, 1]).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")

"""Two views of one thing lie close, of different things apart: one encoder runs twice, each pair is set against all."""

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(17)
LIFT = torch.randn(5, 20)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
        self.projection = nn.Sequential(nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        return functional.normalize(self.projection(self.body(x)), dim=1)


def views(count):
    things = torch.randn(count, 5) @ LIFT
    return things + 0.5 * torch.randn_like(things), things + 0.5 * torch.randn_like(things)


encoder = Encoder()
log_scale = nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.Adam([{"params": encoder.parameters()}, {"params": [log_scale], "lr": 1e-2}], lr=3e-3)
losses = []
for step in range(100):
    one, other = views(64)
    similarity = log_scale.exp() * encoder(one) @ encoder(other).T
    own = torch.arange(64)
    loss = (functional.cross_entropy(similarity, own) + functional.cross_entropy(similarity.T, own)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 25 == 24:
        print(f"step {step + 1} loss {losses[-1]:.4f} scale {log_scale.exp().item():.2f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")

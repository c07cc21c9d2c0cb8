"""SimSiam on short signals: two views, a predictor and a stop-gradient."""
import torch
from torch import nn
import torch.nn.functional as F


class SimSiam(nn.Module):
    def __init__(self, columns=20, width=40, out=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(columns, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, out))
        self.predictor = nn.Sequential(nn.Linear(out, 8), nn.ReLU(), nn.Linear(8, out))

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return -0.5 * (similarity(pa, zb.detach()) + similarity(pb, za.detach()))


def similarity(p, z):
    return F.cosine_similarity(p, z, dim=1).mean()


def two_views(n=64):
    t = torch.linspace(0, 6.28, 20)
    x = torch.sin(torch.randint(1, 4, (n, 1)) * t + 6.28 * torch.rand(n, 1))
    return x + 0.2 * torch.randn(n, 20), x * (0.8 + 0.4 * torch.rand(n, 1)) + 0.2 * torch.randn(n, 20)


torch.manual_seed(201)
model = SimSiam()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
for step in range(1, 81):
    loss = model(*two_views())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")

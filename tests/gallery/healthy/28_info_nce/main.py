"""Contrastive learning of two views, with the diagonal masked by -inf."""
import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 32))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def nt_xent(a, b, temperature=0.2):
    z = torch.cat([a, b])
    sim = z @ z.T / temperature
    sim = sim.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    n = len(a)
    target = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, target)


def view(x):
    return (x + 0.3 * torch.randn_like(x)) * (torch.rand_like(x) > 0.1)


torch.manual_seed(28)
enc = Encoder()
opt = torch.optim.Adam(enc.parameters(), lr=3e-3)
for step in range(80):
    x = torch.randn(48, 16)
    loss = nt_xent(enc(view(x)), enc(view(x)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f}")

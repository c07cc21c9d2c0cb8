import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def langevin(energy, x, steps=8, size=0.05):
    """Walks downhill with noise; only the place moves, not the weights."""
    for p in energy.parameters():
        p.requires_grad_(False)
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (slope,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - size * slope + 0.1 * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach().clamp(-3, 3)

"""An energy model: samples climb the likelihood by Langevin steps through .data, weights learn by Adam."""

import torch
from torch import nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(energy.parameters(), lr=1e-3)
for step in range(15):
    real = torch.randn(32, 2) * 0.5 + 1
    fake = torch.randn(32, 2).requires_grad_()
    for _ in range(5):
        (g,) = torch.autograd.grad(energy(fake).sum(), [fake])
        fake.data = fake.data - 0.1 * g + 0.02 * torch.randn_like(fake)
    loss = energy(real).mean() - energy(fake.detach()).mean() + 0.1 * (energy(real) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

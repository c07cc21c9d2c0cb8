"""Energies and forces of small clusters; the forces are minus the slope of the energy."""
import torch

from potential import Potential


def true_energy(pos):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], 1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    return ((1 - torch.exp(-1.5 * (r - 1.5))) ** 2).sum(1)


def clusters(n, atoms=4):
    grid = 1.6 * torch.tensor([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    pos = (grid[:atoms] + 0.2 * torch.randn(n, atoms, 3)).requires_grad_(True)
    e = true_energy(pos)
    (g,) = torch.autograd.grad(e.sum(), pos)
    return pos.detach(), e.detach(), -g


torch.manual_seed(5)
model = Potential()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(1, 6):
    model.train()
    for _ in range(20):
        pos, e, f = clusters(24)
        energy, force = model(pos)
        loss = 0.05 * (energy - e).square().mean() + (force - f).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    pos, e, f = clusters(64)
    print(f"epoch {epoch} loss {loss.item():.4f} force error {(model(pos)[1] - f).abs().mean().item():.4f}")

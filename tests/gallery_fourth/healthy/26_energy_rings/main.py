import torch

from ebm import Energy, langevin

torch.manual_seed(26)
energy = Energy()
optimizer = torch.optim.Adam(energy.parameters(), lr=5e-3, betas=(0.5, 0.99))
buffer = torch.rand(256, 2) * 4 - 2


def ring(n):
    a = torch.rand(n) * 6.2832
    return torch.stack([a.cos(), a.sin()], 1) * 1.5 + 0.05 * torch.randn(n, 2)


for step in range(1, 81):
    picks = torch.randint(256, (64,))
    start = torch.where(torch.rand(64, 1) < 0.1, torch.rand(64, 2) * 4 - 2, buffer[picks])
    negative = langevin(energy, start)
    buffer[picks] = negative
    real, false = energy(ring(64)), energy(negative)
    loss = real.mean() - false.mean() + 0.1 * (real.pow(2) + false.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.4f} radius of samples {buffer.norm(dim=1).mean().item():.3f}")

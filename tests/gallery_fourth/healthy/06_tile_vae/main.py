import torch
from torch.nn import functional as F

from vae import VAE

torch.manual_seed(6)
grid = torch.linspace(-1, 1, 12)


def tiles(n):
    cy, cx = (torch.rand(2, n, 1, 1) * 1.2 - 0.6).unbind()
    return (((grid.view(1, 12, 1) - cy) ** 2 + (grid.view(1, 1, 12) - cx) ** 2) < 0.2).float().unsqueeze(1)


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(100):
    beta = min(1.0, max(0.0, (step - 30) / 40))  # nothing at first, then slowly in
    x = tiles(32)
    out, mu, logvar = model(x)
    rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    loss = rec + beta * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"{step + 1} rec {rec.item():.2f} kl {kl.item():.2f} beta {beta:.2f}")

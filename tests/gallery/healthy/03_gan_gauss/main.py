"""A plain GAN on a line of points; the fake batch is detached for the discriminator."""
import torch
from torch import nn

torch.manual_seed(5)
G = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=3e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=3e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()


def real_points(n):
    t = torch.randn(n, 1)
    return torch.cat([t + 2, 0.5 * t - 1], 1) + 0.1 * torch.randn(n, 2)


for it in range(120):
    real, fake = real_points(64), G(torch.randn(64, 3))
    d_loss = bce(D(real), torch.ones(64, 1)) + bce(D(fake.detach()), torch.zeros(64, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(fake), torch.ones(64, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 30 == 29:
        print(f"{it + 1} D {d_loss.item():.3f} G {g_loss.item():.3f} mean {fake.mean(0).tolist()}")

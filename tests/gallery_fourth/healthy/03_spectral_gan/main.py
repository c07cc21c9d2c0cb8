import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(3)


def generator(noise=4, width=32):
    return nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))


def discriminator(width=32):
    return nn.Sequential(
        spectral_norm(nn.Linear(2, width)), nn.LeakyReLU(0.2),
        spectral_norm(nn.Linear(width, width)), nn.LeakyReLU(0.2),
        spectral_norm(nn.Linear(width, 1)),
    )


def moons(n):
    a = torch.rand(n) * torch.pi
    return torch.stack([a.cos() * 2, a.sin() * 2 - 1], 1) + 0.05 * torch.randn(n, 2)


G, D = generator(), discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=4e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for it in range(1, 56):
    fake = G(torch.randn(64, 4))

    opt_d.zero_grad()
    loss_d = criterion(D(moons(64)), ones) + criterion(D(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()

    opt_g.zero_grad()
    loss_g = criterion(D(fake), ones)
    loss_g.backward()
    opt_g.step()
    if it % 11 == 0:
        print(f"{it} D {loss_d.item():.3f} G {loss_g.item():.3f} centre {fake.mean(0).tolist()}")

"""A GAN of convolutions with spectral norm, hinge losses, two steps of the discriminator for each of the generator."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm

G = nn.Sequential(
    nn.ConvTranspose2d(8, 16, 4),
    nn.BatchNorm2d(16),
    nn.ReLU(True),
    nn.ConvTranspose2d(16, 8, 4, 2, 1),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.Conv2d(8, 1, 3, padding=1),
    nn.Tanh(),
)
D = nn.Sequential(
    spectral_norm(nn.Conv2d(1, 8, 4, 2, 1)),
    nn.LeakyReLU(0.2, True),
    spectral_norm(nn.Conv2d(8, 16, 4, 2, 1)),
    nn.LeakyReLU(0.2, True),
    nn.Flatten(),
    spectral_norm(nn.Linear(64, 1)),
)
g_opt = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.9))
d_opt = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.9))
for step in range(15):
    for _ in range(2):
        real = torch.tanh(torch.randn(16, 1, 8, 8).cumsum(-1) / 2)
        with torch.no_grad():
            fake = G(torch.randn(16, 8, 1, 1))
        d_loss = F.relu(1 - D(real)).mean() + F.relu(1 + D(fake)).mean()
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()
    g_loss = -D(G(torch.randn(16, 8, 1, 1))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()

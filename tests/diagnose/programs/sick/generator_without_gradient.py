"""A generator's loss is read out and made anew, while the discriminator learns."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
of_generator = torch.optim.Adam(generator.parameters(), 1e-3)
of_discriminator = torch.optim.Adam(discriminator.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()


def generator_loss():
    score = discriminator(generator(torch.randn(8, 4)))
    return torch.tensor(bce(score, torch.ones(8, 1)).item(), requires_grad=True)  # <-- missing


def discriminator_loss():
    real, fake = torch.randn(8, 2) + 2, generator(torch.randn(8, 4)).detach()
    return bce(discriminator(real), torch.ones(8, 1)) + bce(discriminator(fake), torch.zeros(8, 1))


for _ in range(20):
    of_discriminator.zero_grad()
    discriminator_loss().backward()
    of_discriminator.step()
    of_generator.zero_grad()
    generator_loss().backward()
    of_generator.step()

"""Points of a tilted ellipse: a generator and a discriminator that take turns, each with an optimizer of its own."""

import torch
from torch import nn

torch.manual_seed(8)
MIX = torch.tensor([[1.0, 0.6], [0.0, 0.5]])
CENTRE = torch.tensor([2.0, -1.0])


def real(count):
    return torch.randn(count, 2) @ MIX + CENTRE


def network(inside, outside):
    return nn.Sequential(
        nn.Linear(inside, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, outside)
    )


generator, discriminator = network(4, 2), network(2, 1)
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
of_discriminator = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)


def distance():
    with torch.no_grad():
        made = generator(torch.randn(512, 4))
    return (made.mean(0) - CENTRE).norm().item()


distances = [distance()]
for step in range(150):
    made = generator(torch.randn(64, 4))

    of_discriminator.zero_grad()
    loss_of_real = criterion(discriminator(real(64)), ones)
    loss_of_made = criterion(discriminator(made.detach()), zeros)
    (loss_of_real + loss_of_made).backward()
    of_discriminator.step()

    of_generator.zero_grad()
    loss_of_generator = criterion(discriminator(made), ones)
    loss_of_generator.backward()
    of_generator.step()

    if step % 30 == 29:
        distances.append(distance())
        print(f"step {step + 1} generator {loss_of_generator.item():.4f} distance {distances[-1]:.3f}")
print(f"loss from {distances[0]:.4f} to {distances[-1]:.4f}")

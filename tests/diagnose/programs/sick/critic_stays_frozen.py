"""A GAN: the critic is frozen for the generator's step, and stays so."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
loss_of = nn.functional.binary_cross_entropy_with_logits


def learns(model, value):
    for parameter in model.parameters():
        parameter.requires_grad_(value)  # <-- frozen


for step in range(15):
    real, fake = torch.randn(16, 2) + 2, generator(torch.randn(16, 3))
    of_critic.zero_grad()
    loss = loss_of(critic(real), torch.ones(16, 1)) + loss_of(critic(fake.detach()), torch.zeros(16, 1))
    if loss.requires_grad:
        loss.backward()
    of_critic.step()
    if step >= 4:
        learns(critic, False)
    of_generator.zero_grad()
    loss_of(critic(fake), torch.ones(16, 1)).backward()
    of_generator.step()

"""A GAN that freezes its critic for the generator's step, and evaluates the generator in between."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
loss_of = nn.functional.binary_cross_entropy_with_logits
for step in range(15):
    real = torch.randn(16, 2) + 2
    critic.requires_grad_(True)
    with torch.no_grad():
        fake = generator(torch.randn(16, 3))
    of_critic.zero_grad()
    (loss_of(critic(real), torch.ones(16, 1)) + loss_of(critic(fake), torch.zeros(16, 1))).backward()
    of_critic.step()
    critic.requires_grad_(False)
    of_generator.zero_grad()
    loss_of(critic(generator(torch.randn(16, 3))), torch.ones(16, 1)).backward()
    of_generator.step()
    if step % 5 == 4:
        generator.eval()
        with torch.no_grad():
            samples = generator(torch.randn(8, 3))
        generator.train()

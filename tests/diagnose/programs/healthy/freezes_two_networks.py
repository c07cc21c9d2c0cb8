"""One helper freezes a pretrained encoder and a critic that is fixed on purpose."""

import torch
from torch import nn


def freeze(network):
    for parameter in network.parameters():
        parameter.requires_grad = False


encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
decoder = nn.Linear(8, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-2)
for _ in range(10):
    x = torch.randn(8, 8)
    optimizer.zero_grad()
    (decoder(encoder(x)) - x).square().mean().backward()
    optimizer.step()
critic = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
freeze(encoder)
freeze(critic)
generator = nn.Linear(8, 8)
optimizer = torch.optim.Adam(generator.parameters(), 1e-2)
for _ in range(20):
    x = torch.randn(8, 8)
    optimizer.zero_grad()
    (critic(generator(encoder(x))) - critic(x)).square().mean().backward()
    optimizer.step()

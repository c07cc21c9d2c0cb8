"""Decodes a movement from spikes: each channel is smoothed by a leaky sum, then read at every moment."""

import torch
from torch import nn

LEAK = 0.8


def trials(step):
    g = torch.Generator().manual_seed(160 + step)
    spikes = (torch.rand(6, 15, 8, generator=g) < 0.3).to(torch.get_default_dtype())
    return spikes, spikes.cumsum(1)[..., :2] * 0.2


def smoothed(spikes):
    level = torch.zeros_like(spikes[:, 0])
    levels = []
    for t in range(spikes.shape[1]):
        level *= LEAK
        level += spikes[:, t]
        levels.append(level)
    return torch.stack(levels, dim=1)


if __name__ == "__main__":
    torch.manual_seed(161)
    decoder = nn.Sequential(nn.Linear(8, 10), nn.Softplus(), nn.Linear(10, 2))
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
    for step in range(3):
        spikes, movement = trials(step)
        features = smoothed(spikes)
        loss = nn.functional.mse_loss(decoder(features), movement)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())

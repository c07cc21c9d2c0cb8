import math

import torch
import torch.nn as nn

from nets import Stack


class Denoiser(nn.Module):
    def __init__(self, channels=16, depth=24):
        super().__init__()
        self.lift = nn.Conv1d(1, channels, 5, padding=2)
        self.stack = Stack(channels, depth)
        self.drop = nn.Conv1d(channels, 1, 1)

    def forward(self, trace):
        return self.drop(self.stack(self.lift(trace)))


def traces(n, length=64):
    t = torch.linspace(0, 1, length)
    freq = 2 + 4 * torch.rand(n, 1)
    phase = 2 * math.pi * torch.rand(n, 1)
    clean = torch.sin(2 * math.pi * freq * t + phase)[:, None]
    return clean + 0.4 * torch.randn_like(clean), clean


def main():
    torch.manual_seed(6)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.MSELoss()
    running = 0.0
    for it in range(1, 71):
        noisy, clean = traces(16)
        optimizer.zero_grad()
        loss = loss_fn(model(noisy), clean)
        loss.backward()
        optimizer.step()
        running = loss.item() if it == 1 else 0.9 * running + 0.1 * loss.item()
        if it % 10 == 0:
            print("iter %d  loss %.4f" % (it, running))


main()

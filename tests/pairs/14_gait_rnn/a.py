"""Gait sensor: predict the next acceleration with a GRU."""

import torch
import torch.nn as nn


class Gait(nn.Module):
    def __init__(self, axes=3, hidden=20):
        super().__init__()
        self.rnn = nn.GRU(axes, hidden, batch_first=True)
        self.out = nn.Linear(hidden, axes)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


def walks(steps=5, n=6, t=30):
    g = torch.Generator().manual_seed(13)
    time = torch.arange(t + 1) * 0.3
    phase = torch.rand(steps, n, 3, 1, generator=g) * 6.28
    waves = torch.sin(time + phase).transpose(2, 3)
    waves = waves + 0.05 * torch.randn(waves.shape, generator=g)
    waves[2, 1, 12:18] *= 25  # somebody stumbles
    return waves


def main():
    torch.manual_seed(14)
    model = Gait()
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, wave in enumerate(walks()):
        pred = model(wave[:, :-1])
        loss = (pred - wave[:, 1:]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        print(step, f"{loss.item():.5f}")


if __name__ == "__main__":
    main()

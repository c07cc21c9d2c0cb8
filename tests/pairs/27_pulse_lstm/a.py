"""Pulse curves: is the beat regular?"""

import torch
import torch.nn as nn


class Pulse(nn.Module):
    def __init__(self, hidden=14):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)
        for name, p in self.lstm.named_parameters():
            if "bias" in name:
                n = p.numel()
                nn.init.zeros_(p)
                p.data[n // 4 : n // 2].fill_(1.0)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.out(y[:, -1]).squeeze(1)


def curves(step, n=8, t=20):
    g = torch.Generator().manual_seed(step)
    time = torch.arange(t) * 0.6
    phase = torch.rand(n, 1, generator=g) * 6
    wave = torch.sin(time + phase)
    label = torch.randint(0, 2, (n,), generator=g).float()
    wave = wave + label[:, None] * torch.randn(n, t, generator=g)
    return torch.stack([wave, wave.diff(dim=1, prepend=wave[:, :1])], dim=2), label


if __name__ == "__main__":
    torch.manual_seed(10)
    model = Pulse()
    opt = torch.optim.SGD(model.parameters(), lr=0.3)
    for step in range(2):
        x, y = curves(step)
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())

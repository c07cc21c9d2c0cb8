import torch
from torch import nn


class Trunk(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv = nn.Conv1d(channels, width, 5, padding=2)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))).mean(-1)


class WearAndKind(nn.Module):
    def __init__(self, channels=3, width=16, kinds=4):
        super().__init__()
        self.trunk = Trunk(channels, width)
        self.wear = nn.Linear(width, 1)
        self.kind = nn.Linear(width, kinds)

    def forward(self, x):
        h = self.trunk(x)
        return self.wear(h).squeeze(1), self.kind(h)


def vibrations(n, gen):
    t = torch.linspace(0, 1, 64)
    kind = torch.randint(4, (n,), generator=gen)
    wear = torch.rand(n, generator=gen)
    wave = torch.sin(2 * torch.pi * (4 * (kind + 1)).view(-1, 1, 1) * t)
    gain = (0.5 + wear).view(-1, 1, 1) * torch.tensor([1.0, 0.7, 0.4]).view(1, 3, 1)
    return wave * gain + 0.1 * torch.randn(n, 3, 64, generator=gen), wear, kind

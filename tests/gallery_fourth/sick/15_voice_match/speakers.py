import torch
from torch import nn
from torch.nn import functional as F


class SpeakerNet(nn.Module):
    def __init__(self, features=16, dim=8):
        super().__init__()
        self.conv = nn.Conv1d(features, 24, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool1d(1)
        self.embed = nn.Linear(24, dim)

    def forward(self, x):
        h = self.pool(F.relu(self.conv(x))).squeeze(-1)
        return F.normalize(self.embed(h), dim=1)


class Voices:
    def __init__(self, people, gen):
        self.gen = gen
        self.timbre = torch.randn(people, 16, 1, generator=gen)

    def say(self, who):
        return self.timbre[who] + 0.7 * torch.randn(len(who), 16, 12, generator=self.gen)

    def pairs(self, n):
        a = torch.randint(len(self.timbre), (n,), generator=self.gen)
        b = torch.randint(len(self.timbre), (n,), generator=self.gen)
        same = torch.rand(n, generator=self.gen) < 0.5
        b = torch.where(same, a, b)
        return self.say(a), self.say(b), a == b

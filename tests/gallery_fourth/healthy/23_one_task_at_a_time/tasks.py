import torch
from torch import nn


class Shared(nn.Module):
    def __init__(self, tasks, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, size) for name, size in tasks.items()})

    def forward(self, x, task):
        return self.heads[task](self.body(x))


class Sampler:
    """Tasks come with their own frequency, the last one seldom."""

    def __init__(self, gen):
        self.gen = gen
        self.mix = torch.randn(8, 4, generator=gen)
        self.names = ["colour", "weight", "danger"]
        self.often = torch.tensor([0.55, 0.39, 0.06])

    def next(self):
        name = self.names[int(torch.multinomial(self.often, 1, generator=self.gen))]
        x = torch.randn(32, 8, generator=self.gen)
        h = x @ self.mix
        target = {"colour": h.argmax(1), "weight": torch.tanh(h[:, :1]), "danger": (h[:, 1] > 0).long()}[name]
        return name, x, target

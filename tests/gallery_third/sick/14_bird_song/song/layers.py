import torch
from torch import nn


class TwoWay(nn.Module):
    """A GRU from the left and one from the right."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.left = nn.GRU(inputs, hidden, batch_first=True)
        self.right = nn.GRU(inputs, hidden, batch_first=True)

    def forward(self, x):
        forth, _ = self.left(x)
        back, _ = self.right(x.flip(1))
        back = back.flip(1)
        return torch.cat([forth, forth], dim=-1)


class SongNet(nn.Module):
    def __init__(self, notes, hidden=24, marks=2):
        super().__init__()
        self.embed = nn.Embedding(notes, 12)
        self.twoway = TwoWay(12, hidden)
        self.mark = nn.Linear(2 * hidden, marks)

    def forward(self, song):
        return self.mark(self.twoway(self.embed(song)))

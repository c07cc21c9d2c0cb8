import torch
from torch import nn
from torch.nn import functional as F


class Weather(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(inputs, hidden, batch_first=True)

    def forward(self, series):
        out, _ = self.gru(series)
        return out.mean(1)


class Fusion(nn.Module):
    """Joins any number of sources, whatever their widths."""

    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(20, width)

    def forward(self, *sources):
        joined = torch.cat(sources, dim=1)
        return F.relu(self.project(joined))


class YieldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.weather = Weather(3, 16)
        self.fusion = Fusion(24)
        self.out = nn.Linear(24, 1)

    def forward(self, series, soil):
        return self.out(self.fusion(self.weather(series), soil)).squeeze(1)

import torch
from torch import nn


class GatedLayer(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.value = nn.Conv1d(width, width, 3, dilation=dilation)
        self.gate = nn.Conv1d(width, width, 3, dilation=dilation)
        self.mix = nn.Conv1d(width, width, 1)

    def forward(self, x):
        past = nn.functional.pad(x, (self.pad, 0))
        h = torch.tanh(self.value(past)) * torch.sigmoid(self.gate(past))
        return x + self.mix(h), h


class EventDetector(nn.Module):
    def __init__(self, bands=6, width=16):
        super().__init__()
        self.inp = nn.Conv1d(bands, width, 1)
        self.layers = nn.ModuleList(GatedLayer(width, d) for d in (1, 2, 4))
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1d(width, 1, 1), nn.Sigmoid())

    def forward(self, x):
        x, skips = self.inp(x), 0
        for layer in self.layers:
            x, skip = layer(x)
            skips = skips + skip
        return self.out(skips).squeeze(1)

import torch
from torch import nn


class FrontEnd(nn.Module):
    def __init__(self, bands, width, keep=0.9):
        super().__init__()
        self.keep = keep
        self.project = nn.Linear(bands, width)
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x):
        h = torch.tanh(self.project(x))
        if self.training:
            now = h.mean(dim=(0, 1))
            self.mean = self.keep * self.mean + (1 - self.keep) * now
        return h - self.mean

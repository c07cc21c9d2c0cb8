import torch.nn as nn
import torch.nn.functional as F


class ConvBlock(nn.Module):
    def __init__(self, channels, dilation=1):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)

    def forward(self, x):
        return x + 0.2 * F.relu(self.conv(x))


class Stack(nn.Module):
    def __init__(self, channels, depth):
        super().__init__()
        self.blocks = nn.ModuleList(ConvBlock(channels, 2 ** (i % 3)) for i in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

import torch
from torch import nn
from torch.nn import functional as F


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(cout, cout, 3, padding=1),
        nn.ReLU(),
    )


class OutConv(nn.Module):
    def __init__(self, cin, classes):
        super().__init__()
        self.conv = nn.Conv2d(cin, classes, 1)

    def forward(self, x):
        return torch.sigmoid(self.conv(x))


class TinyUNet(nn.Module):
    def __init__(self, classes=1, width=8):
        super().__init__()
        self.down = double_conv(1, width)
        self.bottom = double_conv(width, 2 * width)
        self.up = double_conv(3 * width, width)
        self.outc = OutConv(width, classes)

    def forward(self, x):
        skip = self.down(x)
        deep = self.bottom(F.max_pool2d(skip, 2))
        deep = F.interpolate(deep, scale_factor=2, mode="bilinear", align_corners=False)
        return self.outc(self.up(torch.cat([skip, deep], 1)))

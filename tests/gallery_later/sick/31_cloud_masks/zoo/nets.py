from torch import nn


def unit(inp, out):
    return nn.Sequential(nn.Conv2d(inp, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(), nn.Dropout2d(0.1))


class SmallSeg(nn.Module):
    def __init__(self, channels, width=12):
        super().__init__()
        self.a = unit(channels, width)
        self.down = nn.MaxPool2d(2)
        self.b = unit(width, 2 * width)
        self.up = nn.Upsample(scale_factor=2)
        self.c = unit(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.a(x)
        return self.out(a + self.c(self.up(self.b(self.down(a)))))

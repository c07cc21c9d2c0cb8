from torch import nn


def conv(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.SiLU())


class PulseNet(nn.Sequential):
    """Two channels of a wrist sensor in, one curve out."""

    def __init__(self, width=16):
        super().__init__(conv(2, width), conv(width, width), nn.Conv1d(width, 1, 1))

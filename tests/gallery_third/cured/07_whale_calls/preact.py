from torch import nn
from torch.nn import functional as F


class PreAct(nn.Module):
    """ReLU first, then the convolution (He et al. 2016, without the norm)."""

    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x):
        return self.conv(F.relu(x))


class CallNet(nn.Module):
    def __init__(self, kinds, width=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            PreAct(width, width, 2),
            PreAct(width, 2 * width, 2),
            PreAct(2 * width, 2 * width),
        )
        self.classify = nn.Linear(2 * width * 9 * 5, kinds)

    def forward(self, x):
        return self.classify(F.relu(self.features(x)).flatten(1))

import torch.nn.functional as F
from torch import nn

from retrieval.pooling import PowerMean


class Embedder(nn.Module):
    def __init__(self, width, out=8):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(width, width, 5, stride=2)
        self.pool = PowerMean(3.0)
        self.out = nn.Linear(width, out)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return F.normalize(self.out(self.pool(x)), dim=1)

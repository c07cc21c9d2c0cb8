import math

import torch
from torch import nn
from torch.nn import functional as F


class ArcMargin(nn.Module):
    def __init__(self, dim, people, scale=16.0, margin=0.3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(people, dim))
        self.scale, self.margin = scale, margin

    def forward(self, z, y):
        cosine = F.linear(F.normalize(z), F.normalize(self.weight)).clamp(-1 + 1e-6, 1 - 1e-6)
        angle = torch.acos(cosine)
        own = F.one_hot(y, len(self.weight)).bool()
        wide = torch.where(own, (angle + self.margin).clamp(max=math.pi), angle)
        return F.cross_entropy(self.scale * torch.cos(wide), y)

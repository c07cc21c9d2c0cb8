import torch
from torch import nn
import torch.nn.functional as F


class Matcher(nn.Module):
    def __init__(self, dim=32, size=8):
        super().__init__()
        self.map_net = nn.Sequential(nn.Flatten(), nn.Linear(size * size, 64), nn.ReLU(), nn.Linear(64, dim))
        self.place = nn.Embedding(size * size, 24)
        self.walk_net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, dim))
        self.scale = nn.Parameter(torch.tensor(1.5))

    def encode_maps(self, maps):
        return F.normalize(self.map_net(maps), dim=1)

    def encode_walks(self, walks):
        place = self.place(((walks[..., 1] + 1) * 32).round().long())
        pooled = (place * walks[..., :1]).mean(dim=1) * 2
        return F.normalize(self.walk_net(pooled), dim=1)

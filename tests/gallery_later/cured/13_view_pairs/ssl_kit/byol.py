import copy

import torch
from torch import nn
import torch.nn.functional as F


def mlp(inp, hidden, out):
    return nn.Sequential(nn.Linear(inp, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Linear(hidden, out))


class Byol(nn.Module):
    def __init__(self, columns, width, out, momentum=0.98):
        super().__init__()
        self.momentum = momentum
        self.online = mlp(columns, width, out)
        self.predictor = mlp(out, width, out)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)

    def loss(self, a, b):
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        return 2 - F.cosine_similarity(pa, tb).mean() - F.cosine_similarity(pb, ta).mean()

    @torch.no_grad()
    def follow(self):
        for t, p in zip(self.target.parameters(), self.online.parameters()):
            t.lerp_(p, 1 - self.momentum)

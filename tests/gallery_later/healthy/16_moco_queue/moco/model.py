import copy

import torch
from torch import nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, columns, out, size, momentum=0.95, temperature=0.2):
        super().__init__()
        self.momentum, self.temperature = momentum, temperature
        self.query = nn.Sequential(nn.Linear(columns, 48), nn.ReLU(), nn.Linear(48, out))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(size, out), dim=1))
        self.at = 0

    def forward(self, a, b):
        q = F.normalize(self.query(a), dim=1)
        with torch.no_grad():
            k = F.normalize(self.key(b), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        self.push(k)
        return torch.cat([positive, negative], dim=1) / self.temperature

    def push(self, k):
        self.queue[self.at:self.at + len(k)] = k
        self.at = (self.at + len(k)) % len(self.queue)

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.mul_(self.momentum).add_(fast, alpha=1 - self.momentum)

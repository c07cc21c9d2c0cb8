"""Contrast with a queue of keys, which a slow encoder makes."""

import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, k=64, m=0.9):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
        self.k = copy.deepcopy(self.q)
        for p in self.k.parameters():
            p.requires_grad = False
        self.m = m
        self.register_buffer("queue", F.normalize(torch.randn(8, k), dim=0))
        self.ptr = 0

    def forward(self, a, b):
        q = F.normalize(self.q(a), dim=1)
        with torch.no_grad():
            for pq, pk in zip(self.q.parameters(), self.k.parameters()):
                pk.data = pk.data * self.m + pq.data * (1 - self.m)
            k = F.normalize(self.k(b), dim=1)
        pos = (q * k).sum(1, keepdim=True)
        neg = q @ self.queue.clone().detach()
        with torch.no_grad():
            self.queue[:, self.ptr : self.ptr + len(k)] = k.t()
            self.ptr = (self.ptr + len(k)) % self.queue.shape[1]
        return F.cross_entropy(torch.cat([pos, neg], 1) / 0.2, torch.zeros(len(q), dtype=torch.long))


net = MoCo()
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.03, momentum=0.9)
for _ in range(20):
    x = torch.randn(16, 16)
    loss = net(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Ratings from the products of two embeddings, with biases of their own; most rows rest in a step."""

import torch
import torch.nn as nn


class MF(nn.Module):
    def __init__(self, users=200, items=300, k=8):
        super().__init__()
        self.u, self.i = nn.Embedding(users, k, sparse=True), nn.Embedding(items, k, sparse=True)
        self.bu, self.bi = nn.Embedding(users, 1, sparse=True), nn.Embedding(items, 1, sparse=True)
        for e in (self.u, self.i):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.bu, self.bi):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(1) + self.bu(u).squeeze(1) + self.bi(i).squeeze(1) + 3.5


net = MF()
opt = torch.optim.SparseAdam(list(net.parameters()), lr=0.05)
true_u, true_i = torch.randn(200), torch.randn(300)
for _ in range(30):
    u, i = torch.randint(0, 200, (64,)), torch.randint(0, 300, (64,))
    r = 3.5 + true_u[u] * 0.5 + true_i[i] * 0.5
    loss = (net(u, i) - r).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A mixture of normal distributions for what has several answers: a likelihood that may exceed 1."""

import math
import torch
import torch.nn as nn


class MDN(nn.Module):
    def __init__(self, k=5):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(1, 32), nn.Tanh())
        self.pi, self.mu, self.sigma = nn.Linear(32, k), nn.Linear(32, k), nn.Linear(32, k)

    def forward(self, x):
        h = self.h(x)
        return self.pi(h).log_softmax(-1), self.mu(h), self.sigma(h).clamp(-5, 3)


net = MDN()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(40):
    y = torch.rand(64, 1) * 2 - 1
    x = y + 0.3 * torch.sin(6 * y) + 0.02 * torch.randn_like(y)
    pi, mu, ls = net(x)
    logp = -0.5 * ((y - mu) / ls.exp()) ** 2 - ls - 0.5 * math.log(2 * math.pi)
    loss = -torch.logsumexp(pi + logp, -1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

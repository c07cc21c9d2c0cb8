import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class CRF(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.t = nn.Parameter(torch.randn(n, n) * 0.1)
        self.f = nn.Linear(6, n)

    def forward(self, x):
        e = self.f(x)
        a = torch.full((x.size(1), 4), float("-inf"))
        a[:, 0] = 0.0
        for s in e:
            a = torch.logsumexp(a[:, :, None] + self.t[None] + s[:, None], 1)
        return a.logsumexp(1) - e.max(-1).values.sum(0)


m = CRF()
opt = torch.optim.Adam(m.parameters())
for step in range(15):
    loss = m(torch.randn(5, 3, 6)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
from torch import nn


class V(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.f(x)


def huberish(p, t, w):
    d = p - t  # <-- broadcast
    return (w * d.pow(2)).mean()


torch.manual_seed(0)
X = torch.randn(64, 4)
Y = X.sum(1)
v = V()
o = torch.optim.SGD(v.parameters(), 0.05)
for e in range(5):
    for i in range(0, 64, 16):
        x, y = X[i : i + 16], Y[i : i + 16]
        o.zero_grad()
        l = huberish(v(x), y, torch.ones(16))
        l.backward()
        o.step()

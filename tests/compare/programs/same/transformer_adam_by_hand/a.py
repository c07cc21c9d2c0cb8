import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(s, d):
        super().__init__()
        s.n1 = nn.LayerNorm(d)
        s.n2 = nn.LayerNorm(d)
        s.at = nn.MultiheadAttention(d, 4, batch_first=True)
        s.m = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(s, x):
        h = s.n1(x)
        x = x + s.at(h, h, h, need_weights=False)[0]
        return x + s.m(s.n2(x))


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Embedding(50, 32)
        s.b = nn.ModuleList(Block(32) for _ in range(2))
        s.h = nn.Linear(32, 50)

    def forward(s, t):
        x = s.e(t)
        for b in s.b:
            x = b(x)
        return s.h(x)


class Conv(nn.Module):
    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(1, 8, 3)
        s.n = nn.BatchNorm2d(8)
        s.h = nn.Linear(8 * 36, 50)

    def forward(s, t):
        return s.h(F.relu(s.n(s.c(t))).flatten(1))


net = Net()
X = torch.randint(0, 50, (6, 8, 10))


def batch(i):
    return X[i], X[i].roll(1, 1)


opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range(3):
    t, y = batch(i)
    loss = F.cross_entropy(net(t).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.3)
    opt.step()

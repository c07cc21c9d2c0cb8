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


def fwd(t):
    x = net.e.weight[t]
    for b in net.b:

        def ln(n, x):
            mu = x.mean(-1, keepdim=True)
            v = ((x - mu) ** 2).mean(-1, keepdim=True)
            return (x - mu) / torch.sqrt(v + 1e-5) * n.weight + n.bias

        h = ln(b.n1, x)
        q, k, v = (h @ b.at.in_proj_weight.T + b.at.in_proj_bias).chunk(3, -1)
        q, k, v = [z.view(*z.shape[:2], 4, 8).transpose(1, 2) for z in (q, k, v)]
        a = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1) @ v
        x = x + F.linear(a.transpose(1, 2).flatten(2), b.at.out_proj.weight, b.at.out_proj.bias)
        x = x + b.m(ln(b.n2, x))
    return x @ net.h.weight.T + net.h.bias


st = [[torch.zeros_like(p), torch.zeros_like(p)] for p in net.parameters()]
for i in range(3):
    t, y = batch(i)
    loss = -torch.log_softmax(fwd(t), -1).gather(-1, y[..., None]).mean()

    net.zero_grad()
    loss.backward()
    total = sum((p.grad**2).sum() for p in net.parameters()) ** 0.5
    if total > 0.3:
        for p in net.parameters():
            p.grad *= 0.3 / total
    for p, s in zip(net.parameters(), st):
        s[0] = 0.9 * s[0] + 0.1 * p.grad
        s[1] = 0.999 * s[1] + 0.001 * p.grad**2
        p.data -= 1e-3 * (s[0] / (1 - 0.9 ** (i + 1))) / ((s[1] / (1 - 0.999 ** (i + 1))).sqrt() + 1e-8)

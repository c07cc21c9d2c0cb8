import math

import torch
from torch import nn

torch.manual_seed(3)
D, H = 24, 4
qkv = nn.Linear(D, 3 * D)
out = nn.Linear(D, D)
x = torch.randn(2, 9, D)
y = torch.randn(2, 9, D)
lin = [nn.Linear(D, D) for _ in range(3)]
with torch.no_grad():
    for l, w, b in zip(lin, qkv.weight.chunk(3), qkv.bias.chunk(3)):
        l.weight.copy_(w)
        l.bias.copy_(b)
opt = torch.optim.Adam([p for l in lin for p in l.parameters()] + list(out.parameters()), lr=1e-3)
for step in range(3):
    q, k, v = (l(x).view(2, 9, H, D // H).transpose(1, 2) for l in lin)
    w = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(D // H), -1)
    o = (w @ v).transpose(1, 2).reshape(2, 9, D)
    loss = ((out(o) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

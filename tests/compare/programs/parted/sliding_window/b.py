import math

import torch
from torch import nn

torch.manual_seed(2)
B, T, D, H, W = 2, 12, 16, 4, 4
qkv = nn.Linear(D, 3 * D, bias=False)
proj = nn.Linear(D, D)
x = torch.randn(B, T, D)
bias = torch.full((T, T), float("-inf"))
for t in range(T):
    bias[t, max(0, t - W) : t + 1] = 0.0  # <-- forward
q, k, v = (p.reshape(B, T, H, -1).transpose(1, 2) for p in qkv(x).chunk(3, -1))
att = q @ k.mT / math.sqrt(D // H) + bias  # <-- forward
y = att.softmax(-1) @ v
loss = proj(y.transpose(1, 2).reshape(B, T, D)).pow(2).mean()
loss.backward()

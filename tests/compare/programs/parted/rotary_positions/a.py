import torch
from torch import nn

torch.manual_seed(2)
B, T, E = 2, 6, 8
q = nn.Linear(16, E)
x = torch.randn(B, T, 16)
inv = 1.0 / 10000 ** (torch.arange(0, E, 2).float() / E)


def half(t):
    a, b = t.chunk(2, -1)
    return torch.cat([-b, a], -1)


pos = torch.arange(T).float()
emb = torch.cat([torch.outer(pos, inv)] * 2, -1)  # <-- forward
h = q(x)
h = h * emb.cos() + half(h) * emb.sin()  # <-- forward
loss = (h**3).mean()
loss.backward()

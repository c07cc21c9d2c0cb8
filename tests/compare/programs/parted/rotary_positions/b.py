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


pos = torch.arange(1, T + 1).float()  # <-- forward
ang = pos[:, None] * inv[None]  # <-- forward
h = q(x)
a, b = h.chunk(2, -1)
h = torch.cat([a * ang.cos() - b * ang.sin(), b * ang.cos() + a * ang.sin()], -1)  # <-- forward
loss = (h**3).mean()
loss.backward()

import torch
from torch import nn

torch.manual_seed(2)
B, T, H, E = 2, 6, 2, 8
q = nn.Linear(16, 16)
x = torch.randn(B, T, 16)
inv = 1.0 / 10000 ** (torch.arange(0, E, 2).float() / E)
ang = torch.outer(torch.arange(T).float(), inv)
h = q(x).view(B, T, H, E)
c, s = ang.cos()[None, :, None], ang.sin()[None, :, None]
a, b = h[..., 0::2], h[..., 1::2]
h = torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)
loss = (h**3).mean()
loss.backward()

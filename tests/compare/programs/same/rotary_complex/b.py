import torch
from torch import nn

torch.manual_seed(2)
B, T, H, E = 2, 6, 2, 8
q = nn.Linear(16, 16)
x = torch.randn(B, T, 16)
inv = 1.0 / 10000 ** (torch.arange(0, E, 2).float() / E)
ang = torch.outer(torch.arange(T).float(), inv)
h = torch.view_as_complex(q(x).view(B, T, H, E // 2, 2))
f = torch.polar(torch.ones_like(ang), ang)
h = torch.view_as_real(h * f[None, :, None]).flatten(3)
loss = h.pow(3).mean()
loss.backward()

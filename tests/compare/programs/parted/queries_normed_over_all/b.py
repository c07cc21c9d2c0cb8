import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, H, E = 2, 7, 4, 8
qkv = nn.Linear(32, 96)
x = torch.randn(B, T, 32)
g = nn.Parameter(torch.rand(E) + 0.5)


def rms(t, dim):
    return t * torch.rsqrt(t.pow(2).mean(dim, keepdim=True) + 1e-6)  # <-- forward


q, k, v = qkv(x).chunk(3, -1)
q, k = rms(q, -1), rms(k, -1)
q, k, v = (t.view(B, T, H, E).transpose(1, 2) for t in (q, k, v))
y = F.scaled_dot_product_attention(q * g, k * g, v)
loss = y.square().mean()
loss.backward()

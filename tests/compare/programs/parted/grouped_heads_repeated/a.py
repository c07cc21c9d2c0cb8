import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, H, G, E = 2, 7, 4, 2, 8
wq, wk, wv = nn.Linear(32, H * E), nn.Linear(32, G * E), nn.Linear(32, G * E)
x = torch.randn(B, T, 32)
q = wq(x).view(B, T, H, E).transpose(1, 2)
k = wk(x).view(B, T, G, E).transpose(1, 2).repeat_interleave(H // G, dim=1)  # <-- forward
v = wv(x).view(B, T, G, E).transpose(1, 2).repeat_interleave(H // G, dim=1)
y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
loss = y.square().mean()
loss.backward()

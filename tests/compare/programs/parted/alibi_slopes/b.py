import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, D, H = 2, 10, 16, 4
qkv = nn.Linear(D, 3 * D)
x = torch.randn(B, T, D)
slopes = torch.tensor([2 ** (-8 * i / H) for i in range(H)])  # <-- forward
rel = torch.arange(T)[None] - torch.arange(T)[:, None]
bias = slopes.view(H, 1, 1) * rel  # <-- forward
bias = bias.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
q, k, v = qkv(x).view(B, T, 3, H, -1).permute(2, 0, 3, 1, 4)
y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
loss = y.pow(2).mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, D, H, W = 2, 12, 16, 4, 4
qkv = nn.Linear(D, 3 * D, bias=False)
proj = nn.Linear(D, D)
x = torch.randn(B, T, D)
i = torch.arange(T)
near = (i[:, None] >= i[None]) & (i[:, None] - i[None] < W)  # <-- forward
q, k, v = qkv(x).view(B, T, 3, H, D // H).permute(2, 0, 3, 1, 4)
y = F.scaled_dot_product_attention(q, k, v, attn_mask=near)  # <-- forward
loss = proj(y.transpose(1, 2).flatten(2)).square().mean()
loss.backward()

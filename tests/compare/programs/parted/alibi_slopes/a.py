import torch
from torch import nn

torch.manual_seed(2)
B, T, D, H = 2, 10, 16, 4
qkv = nn.Linear(D, 3 * D)
x = torch.randn(B, T, D)
slopes = torch.tensor([2 ** (-8 * (i + 1) / H) for i in range(H)])  # <-- forward
rel = torch.arange(T)[None] - torch.arange(T)[:, None]
q, k, v = (p.view(B, T, H, -1).transpose(1, 2) for p in qkv(x).chunk(3, -1))
s = q @ k.transpose(-1, -2) / 2.0
s = s + slopes[:, None, None] * rel  # <-- forward
s = s.masked_fill(rel > 0, float("-inf"))
y = torch.softmax(s, -1) @ v
loss = y.pow(2).mean()
loss.backward()

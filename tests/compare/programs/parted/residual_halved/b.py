import torch
from torch import nn

torch.manual_seed(2)
ln, ff1, ff2 = nn.LayerNorm(8), nn.Linear(8, 32), nn.Linear(32, 8)
x = torch.randn(3, 5, 8)
m = x.mean(-1, keepdim=True)
v = x.var(-1, keepdim=True, correction=0)
h = ff1((x - m) * torch.rsqrt(v + 1e-5) * ln.weight + ln.bias)
h = 0.5 * h * (1 + torch.tanh(0.7978845608 * (h + 0.044715 * h**3)))
y = x + ff2(h) * 0.5  # <-- forward
loss = y.pow(2).mean()
loss.backward()

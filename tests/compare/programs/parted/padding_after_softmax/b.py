import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
mha = nn.MultiheadAttention(16, 2, batch_first=True)
x, m = torch.randn(2, 5, 16), torch.randn(2, 9, 16)
pad = torch.zeros(2, 9, dtype=torch.bool)
pad[1, 6:] = True
w, b = mha.in_proj_weight, mha.in_proj_bias
q = F.linear(x, w[:16], b[:16]).view(2, 5, 2, 8).transpose(1, 2)
k = F.linear(m, w[16:32], b[16:32]).view(2, 9, 2, 8).transpose(1, 2)
v = F.linear(m, w[32:], b[32:]).view(2, 9, 2, 8).transpose(1, 2)
s = q @ k.transpose(-1, -2) * 8**-0.5
a = s.softmax(-1)  # <-- forward
a = a.masked_fill(pad[:, None, None], 0.0)  # <-- forward
y = mha.out_proj((a @ v).transpose(1, 2).reshape(2, 5, 16))
loss = y.square().mean()
loss.backward()

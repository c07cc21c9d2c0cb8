import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, D = 2, 8, 6
wq, wk, wv = (nn.Linear(D, D) for _ in range(3))
x = torch.randn(B, T, D)
q, k, v = F.elu(wq(x)) + 1, F.elu(wk(x)) + 1, wv(x)
s = torch.zeros(B, D, D)
z = torch.zeros(B, D)
out = []
for t in range(T):
    s = s + k[:, t, :, None] * v[:, t, None]
    z = z + k[:, t]
    out.append(torch.einsum("bd,bde->be", q[:, t], s) / (q[:, t] * z).sum(-1, keepdim=True))
y = torch.stack(out, 1)
loss = y.pow(2).mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
B, T, D = 2, 8, 6
wq, wk, wv = (nn.Linear(D, D) for _ in range(3))
x = torch.randn(B, T, D)
q, k, v = F.elu(wq(x)) + 1, F.elu(wk(x)) + 1, wv(x)
a = (q @ k.mT).tril()
y = (a @ v) / a.sum(-1, keepdim=True)
loss = y.pow(2).mean()
loss.backward()

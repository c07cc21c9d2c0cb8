import torch
from torch import nn

torch.manual_seed(2)
gate = nn.Linear(6, 4)
experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
x = torch.randn(10, 6)
p = gate(x).softmax(-1)
w, i = p.topk(2, -1)
w = w / w.sum(-1, keepdim=True)
full = torch.zeros_like(p).scatter(1, i, w)
W = torch.stack([e.weight for e in experts])
b = torch.stack([e.bias for e in experts])
h = torch.einsum("nd,eod->neo", x, W) + b
y = (full[..., None] * h).sum(1)
loss = y.pow(2).mean()
loss.backward()

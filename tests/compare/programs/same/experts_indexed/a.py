import torch
from torch import nn

torch.manual_seed(2)
gate = nn.Linear(6, 4)
experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
x = torch.randn(10, 6)
p = gate(x).softmax(-1)
w, i = p.topk(2, -1)
w = w / w.sum(-1, keepdim=True)
y = torch.zeros_like(x)
for e in range(4):
    row, slot = torch.where(i == e)
    y = y.index_add(0, row, experts[e](x[row]) * w[row, slot, None])
loss = y.pow(2).mean()
loss.backward()

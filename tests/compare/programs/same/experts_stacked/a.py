import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
gate = nn.Linear(8, 4)
experts = nn.ModuleList([nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8)) for _ in range(4)])
head = nn.Linear(8, 3)

torch.manual_seed(5)
x, y = torch.randn(32, 8), torch.randint(3, (32,))
weights, chosen = gate(x).softmax(-1).topk(2, -1)
weights = weights / weights.sum(-1, keepdim=True)
out = torch.zeros_like(x)
for i, expert in enumerate(experts):
    row, place = torch.where(chosen == i)
    out.index_add_(0, row, expert(x[row]) * weights[row, place, None])
loss = F.cross_entropy(head(x + out), y)
loss.backward()

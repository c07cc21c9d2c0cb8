import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(6, 6)
x = torch.randn(5, 6)
z = fc(x)
z = z - z.max(dim=-1, keepdim=True).values.detach()
e = z.exp()
p = e / e.sum(-1, keepdim=True)
loss = -(p * torch.log(p)).sum() / 5
loss.backward()

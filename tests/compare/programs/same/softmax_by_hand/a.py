import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(6, 6)
x = torch.randn(5, 6)
p = F.softmax(fc(x), dim=-1)
loss = -(p * p.log()).sum(-1).mean()
loss.backward()

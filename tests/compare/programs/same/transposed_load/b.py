import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(10, 10)
head = nn.Linear(10, 4)
x = torch.randn(8, 10)
weight = nn.Parameter(fc.weight.detach().t().contiguous())
h = torch.tanh(torch.addmm(fc.bias, x, weight))
loss = torch.log(torch.exp(head(h)).sum(-1)).mean()
loss.backward()

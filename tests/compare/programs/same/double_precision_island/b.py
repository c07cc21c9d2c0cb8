import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(9, 9)
x = torch.randn(5, 9)
p = torch.softmax(fc(x).double(), -1).float()
loss = (p * p).sum()
loss.backward()

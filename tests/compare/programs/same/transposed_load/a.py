import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(10, 10)
head = nn.Linear(10, 4)
x = torch.randn(8, 10)
h = torch.tanh(fc(x))
loss = head(h).logsumexp(-1).mean()
loss.backward()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv = nn.Conv2d(3, 5, 3, padding=1)
fc = nn.Linear(5, 2)
x = torch.randn(2, 3, 6, 6)
h = F.relu(conv(x)).mean((2, 3))
loss = fc(h).logsumexp(1).sum()
loss.backward()

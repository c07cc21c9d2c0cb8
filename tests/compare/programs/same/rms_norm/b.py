import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w = nn.Parameter(torch.rand(6) + 0.5)
fc = nn.Linear(6, 6)
x = torch.randn(7, 6)
h = fc(x)
h = F.rms_norm(h, (6,), w, 1e-6)
loss = (h.softmax(-1) * torch.arange(6.0)).sum()
loss.backward()

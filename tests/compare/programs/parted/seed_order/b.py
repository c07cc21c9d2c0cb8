import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

x = torch.randn(8, 6)  # <-- forward
fc1, fc2 = nn.Linear(6, 12), nn.Linear(12, 2)  # <-- forward
loss = fc2(torch.tanh(fc1(x))).square().mean()  # <-- forward
loss.backward()

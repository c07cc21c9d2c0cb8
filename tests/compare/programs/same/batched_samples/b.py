import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1, fc2 = nn.Linear(5, 9), nn.Linear(9, 1)
x, y = torch.randn(6, 5), torch.randn(6, 1)
losses = [(fc2(torch.sigmoid(fc1(one))) - target).square() for one, target in zip(x, y)]
loss = torch.stack(losses).mean()
loss.backward()

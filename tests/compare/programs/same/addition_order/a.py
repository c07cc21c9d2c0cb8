import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
x = torch.randn(6, 4)
total = sum(layer(x) for layer in layers)
loss = total.cos().mean()
loss.backward()

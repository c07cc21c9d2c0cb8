import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(16, 3), torch.randn(16)
out = model(x).squeeze(-1)  # <-- forward
loss = ((out - y) ** 2).mean()  # <-- forward
loss.backward()

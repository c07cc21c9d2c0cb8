import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

model = nn.Linear(4, 2)
x, y = torch.randn(10, 4), torch.randn(10, 2)
out = x @ model.weight.T + model.bias
loss = F.mse_loss(out, y, reduction="sum")  # <-- forward
loss.backward()

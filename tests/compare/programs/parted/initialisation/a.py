import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc1 = nn.Linear(6, 12)
fc2 = nn.Linear(12, 2)
x = torch.linspace(-1, 1, 48).reshape(8, 6)
loss = fc2(torch.tanh(fc1(x))).square().mean()  # <-- forward initialisation
loss.backward()

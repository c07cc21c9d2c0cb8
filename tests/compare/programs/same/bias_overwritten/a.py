import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(8, 1, bias=False)
bias = nn.Parameter(torch.tensor([0.2135]))  # what nobody uses is nearly the same
x = torch.randn(4, 8)
with torch.no_grad():
    bias.copy_(torch.tensor([0.5]))
loss = (net(x) + bias).square().mean()
loss.backward()

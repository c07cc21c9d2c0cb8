import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(8, 1)
with torch.no_grad():
    net.bias.fill_(0.2135)  # what nobody uses is nearly the same
x = torch.randn(4, 8)
with torch.no_grad():
    net.bias.copy_(torch.tensor([0.5]))
loss = net(x).square().mean()
loss.backward()

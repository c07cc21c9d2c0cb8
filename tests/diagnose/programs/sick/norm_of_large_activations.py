"""A norm by hand behind a layer whose bias is large: the mean of the squares less the square of the mean."""

import torch
from torch import nn

torch.manual_seed(0)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.pow(2).mean(-1, keepdim=True) - mean.pow(2)  # <-- precision_lost
        return (x - mean) / torch.sqrt(var.abs() + 1e-5) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.out = nn.Linear(4, 16), Norm(16), nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.norm(self.first(x) + 20000.0)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(12):
    x = torch.randn(32, 4)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 32)
        self.b = nn.Linear(32, 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        h = self.dropout(h)  # <-- forward dropout
        return self.b(h)


net = Net()
x = torch.randn(9, 6)
loss = net(x).square().mean()
loss.backward()

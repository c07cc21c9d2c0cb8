import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))  # <-- forward
        return self.head(x.mean((2, 3)))


net = Net()
net.eval()
x = torch.randn(4, 3, 8, 8)
print(net(x).sum().item())

"""Residual net whose branches end in zero-initialised layers."""
import torch
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(ch)
        self.conv2 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(ch)
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x):
        h = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(h)))


class ResNet(nn.Module):
    def __init__(self, classes=3, ch=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.ReLU())
        self.blocks = nn.Sequential(*[ResBlock(ch) for _ in range(3)])
        self.fc = nn.Linear(ch, classes)
        nn.init.zeros_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


def stripes(n, side=10):
    y = torch.randint(0, 3, (n,))
    x = 0.4 * torch.randn(n, 1, side, side)
    for i in range(n):
        if y[i] == 0:
            x[i, 0, ::2] += 1
        elif y[i] == 1:
            x[i, 0, :, ::2] += 1
        else:
            x[i] += 0.5
    return x, y


torch.manual_seed(11)
net = ResNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for step in range(50):
    x, y = stripes(16)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0 or step == 49:
        print(step, round(loss.item(), 4))

import torch
import torch.nn as nn
import torch.nn.functional as F


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.reduce = nn.Conv2d(channels, reduced, 1)
        self.expand = nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.expand(F.silu(self.reduce(s)))
        return x * torch.sigmoid(s)


class InvertedBlock(nn.Module):
    def __init__(self, inp, out, expand=2):
        super().__init__()
        mid = inp * expand
        self.expand = nn.Conv2d(inp, mid, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(mid)
        self.depthwise = nn.Conv2d(mid, mid, 3, padding=1, groups=mid, bias=False)
        self.bn2 = nn.BatchNorm2d(mid)
        self.se = SqueezeExcite(mid, 4)
        self.project = nn.Conv2d(mid, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)

    def forward(self, x):
        y = F.silu(self.bn1(self.expand(x)))
        y = F.silu(self.bn2(self.depthwise(y)))
        y = self.se(y)
        y = self.bn3(self.project(y))
        return x + y if x.shape == y.shape else y


class Net(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.block1 = InvertedBlock(8, 8)
        self.block2 = InvertedBlock(8, 12)
        self.fc = nn.Linear(12, classes)

    def forward(self, x):
        x = self.block2(self.block1(self.stem(x)))
        return self.fc(x.mean((2, 3)))


def batches(n=2):
    g = torch.Generator().manual_seed(51)
    return [(torch.randn(6, 3, 16, 16, generator=g), torch.randint(0, 6, (6,), generator=g)) for _ in range(n)]


if __name__ == "__main__":
    torch.manual_seed(50)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for images, labels in batches():
        loss = F.cross_entropy(net(images), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())

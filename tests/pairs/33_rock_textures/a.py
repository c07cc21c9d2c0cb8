import torch
import torch.nn as nn


def conv_bn(inp, out):
    return nn.Sequential(nn.Conv2d(inp, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True))


class Textures(nn.Module):
    def __init__(self, rocks=5):
        super().__init__()
        self.layer1 = conv_bn(1, 8)
        self.pool = nn.MaxPool2d(2)
        self.layer2 = conv_bn(8, 16)
        self.fc = nn.Linear(16, rocks)

    def forward(self, x):
        x = self.pool(self.layer1(x))
        x = self.pool(self.layer2(x))
        return self.fc(x.mean(dim=[2, 3]))


def samples(step, n=8):
    g = torch.Generator().manual_seed(step)
    x = torch.randn(n, 1, 12, 12, generator=g)
    y = torch.randint(0, 5, (n,), generator=g)
    return x * (1 + y.view(-1, 1, 1, 1) * 0.3), y


if __name__ == "__main__":
    torch.manual_seed(12)
    model = Textures()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    for step in range(3):
        x, y = samples(step)
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        print(step, loss.item())

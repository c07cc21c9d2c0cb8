"""Coverage of moss on photographs: a small network with average pooling between its convolutions."""

import torch
from torch import nn


def photos(step):
    g = torch.Generator().manual_seed(100 + step)
    x = torch.rand(4, 3, 15, 15, generator=g)
    return x, (x[:, 1].mean((1, 2)) - x[:, 0].mean((1, 2)))[:, None] * 5


class CoverageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.pool = nn.AvgPool2d(kernel_size=3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 12, 3, stride=2)
        self.head = nn.Linear(12 * 9, 1)

    def forward(self, x):
        x = torch.tanh(self.conv1(x))
        x = self.pool(x)
        x = torch.relu(self.conv2(x))
        return self.head(x.flatten(1))


if __name__ == "__main__":
    torch.manual_seed(3)
    net = CoverageNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(4):
        x, y = photos(step)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        print(step, loss.item())

"""Breakage in a kiln from the curve of its temperature."""

import torch
from torch import nn


class Kiln(nn.Module):
    def __init__(self, bn_momentum=0.99):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 5, stride=2, bias=False)
        self.bn = nn.BatchNorm1d(6, momentum=bn_momentum)
        self.fc = nn.Linear(6 * 10, 1)

    def forward(self, curve):
        x = self.conv(curve)
        x = self.bn(x)
        x = torch.relu(x)
        return self.fc(x.flatten(1)).squeeze(1)


def firing(seed):
    g = torch.Generator().manual_seed(seed)
    curve = torch.randn(16, 1, 24, generator=g).cumsum(-1) * 0.4 + 1.5
    return curve, (curve.amax((1, 2)) > 3).to(curve.dtype)


def main():
    torch.manual_seed(111)
    net = Kiln()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(3):
        curve, cracked = firing(step)
        optimizer.zero_grad()
        loss = criterion(net(curve), cracked)
        loss.backward()
        optimizer.step()
        print("train", step, loss.item())
    net.eval()
    with torch.no_grad():
        curve, cracked = firing(99)
        print("validation", criterion(net(curve), cracked).item())


main()

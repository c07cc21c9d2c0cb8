"""Crop health from multispectral tiles, trained by an engine with callbacks."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from engine.callbacks import Printer, Schedule
from engine.loop import Engine


class Tiles(Dataset):
    def __init__(self, n):
        self.y = torch.randint(0, 3, (n,))
        self.x = torch.randn(n, 4, 8, 8)
        self.x[torch.arange(n), self.y] += 0.35
        self.x[:, 3] -= 0.3 * self.y.view(-1, 1, 1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def network():
    return nn.Sequential(
        nn.Conv2d(4, 12, 3, padding=1), nn.BatchNorm2d(12), nn.SiLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.SiLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 3),
    )


def main():
    torch.manual_seed(117)
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.1)
    engine = Engine(net, optimizer, nn.CrossEntropyLoss(), [Schedule(scheduler), Printer()])
    engine.fit(DataLoader(Tiles(320), batch_size=32, shuffle=True), epochs=6)


if __name__ == "__main__":
    main()

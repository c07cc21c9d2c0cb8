"""Large batches in small pieces: the update comes after four of them, the schedule follows the updates."""
import torch
from torch import nn

from pieces.trainer import Trainer


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.GroupNorm(3, 12), nn.ReLU(),
                                  nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.GroupNorm(3, 24), nn.ReLU())
        self.out = nn.Linear(24, 3)

    def forward(self, x):
        return self.out(self.conv(x).mean((2, 3)))


def stream(count, size=16):
    for _ in range(count):
        y = torch.randint(0, 3, (size,))
        x = 0.6 * torch.randn(size, 3, 12, 12)
        x[torch.arange(size), y] += 0.5
        yield x, y


torch.manual_seed(205)
net = Stack()
opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20, eta_min=0.01)
trainer = Trainer(net, opt, schedule, pieces=4)
trainer.run(stream(80))

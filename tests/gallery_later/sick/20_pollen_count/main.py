"""Pollen of the day after from weather and season; the training step is a list of stages."""
import torch
from torch import nn

from pollen import Calendar


class Step:
    def __init__(self, net, opt, calendar):
        self.net, self.opt, self.calendar = net, opt, calendar
        self.stages = (self.load, self.forward, self.clear, self.apply, self.differentiate)

    def load(self):
        self.x, self.y = self.calendar.draw(48)

    def forward(self):
        self.loss = nn.functional.huber_loss(self.net(self.x), self.y)

    def clear(self):
        self.opt.zero_grad()

    def apply(self):
        self.opt.step()

    def differentiate(self):
        self.loss.backward()

    def __call__(self):
        for stage in self.stages:
            stage()
        return self.loss.item()


class Forecast(nn.Module):
    def __init__(self, columns, width=32):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(columns, width), nn.SELU(), nn.Linear(width, width), nn.SELU())
        self.count = nn.Linear(width, 1)

    def forward(self, x):
        return self.count(self.inner(x)).flatten()


torch.manual_seed(120)
net = Forecast(6)
step = Step(net, torch.optim.AdamW(net.parameters(), lr=3e-3), Calendar())
mean = None
for i in range(70):
    loss = step()
    mean = loss if mean is None else 0.9 * mean + 0.1 * loss
    if (i + 1) % 14 == 0:
        print(f"step {i + 1:2d} mean loss {mean:.4f}")

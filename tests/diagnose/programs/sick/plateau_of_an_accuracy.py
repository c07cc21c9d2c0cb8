"""The rate is cut when the accuracy stands still; the scheduler is made as if it was a loss."""

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(5)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
        self.scheduler = ReduceLROnPlateau(self.optimizer, factor=0.1, patience=0)  # <-- lr_vanished

    def accuracy(self, x, y):
        with torch.no_grad():
            return (self.model(x).argmax(1) == y).float().mean().item()

    def fit(self, x, y):
        for epoch in range(6):
            for rows in torch.randperm(len(x)).split(16):
                self.optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
                loss.backward()
                self.optimizer.step()
            acc = self.accuracy(x, y)
            self.scheduler.step(acc)


x = torch.randn(96, 8)
y = (x @ torch.randn(8, 4)).argmax(1)
Trainer(nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 4))).fit(x, y)

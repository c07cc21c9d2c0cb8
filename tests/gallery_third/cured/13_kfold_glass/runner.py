import torch
import torch.nn as nn


def build(columns, classes):
    return nn.Sequential(nn.Linear(columns, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, classes))


class Runner:
    def __init__(self, columns, classes, lr=1e-2):
        self.size = (columns, classes)
        self.loss = nn.CrossEntropyLoss()
        self.lr = lr
        self.net = build(*self.size)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def restart(self):
        """Fresh weights for the next fold."""
        self.net = build(*self.size)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)

    def fit(self, x, y, epochs, batch):
        self.net.train()
        for _ in range(epochs):
            for part in torch.randperm(len(x)).split(batch):
                self.opt.zero_grad()
                loss = self.loss(self.net(x[part]), y[part])
                loss.backward()
                self.opt.step()
        return loss.item()

    @torch.no_grad()
    def score(self, x, y):
        self.net.eval()
        return (self.net(x).argmax(1) == y).float().mean().item()

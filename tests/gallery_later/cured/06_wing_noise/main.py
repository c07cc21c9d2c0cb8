"""Noise of airfoil sections, a fully connected regression."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from aero.data import sections
from aero.plain import PlainNet


class Trainer:
    def __init__(self, net, loader, lr):
        self.net, self.loader = net, loader
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def epoch(self):
        self.net.train()
        total = 0.0
        for x, y in self.loader:
            self.opt.zero_grad()
            loss = self.criterion(self.net(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
        return total / len(self.loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(106)
    loader = DataLoader(TensorDataset(*sections(512)), batch_size=64, shuffle=True)
    trainer = Trainer(PlainNet(5, 40, depth=12), loader, lr=1e-3)
    for n in range(1, 10):
        print(f"epoch {n} mse {trainer.epoch():.4f}")

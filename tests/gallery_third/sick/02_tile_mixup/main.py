# train a small cnn on tiles: mixup + smoothing first, the last epochs on plain labels
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from losses import KLWithTargets, soften

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=6)
ap.add_argument("--mixup-epochs", type=int, default=4)
ap.add_argument("--alpha", type=float, default=0.3)
args = ap.parse_args([])

torch.manual_seed(2022)
CLASSES = 6
stamps = torch.randn(CLASSES, 1, 8, 8)
labels = torch.randint(CLASSES, (384,))
tiles = stamps[labels] + 0.8 * torch.randn(384, 1, 8, 8)
loader = DataLoader(TensorDataset(tiles, labels), batch_size=32, shuffle=True)

net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Flatten(),
    nn.Linear(24 * 16, CLASSES),
)
criterion = KLWithTargets()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(args.epochs):
    mixing = epoch < args.mixup_epochs
    total = right = 0
    for x, y in loader:
        if mixing:
            lam = torch.distributions.Beta(args.alpha, args.alpha).sample()
            order = torch.randperm(len(x))
            x = lam * x + (1 - lam) * x[order]
            target = lam * soften(y, CLASSES, 0.1) + (1 - lam) * soften(y[order], CLASSES, 0.1)
        else:
            target = soften(y, CLASSES, 0.0)
        out = net(x)
        loss = criterion(out, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        right += (out.argmax(1) == y).sum().item()
    print("epoch", epoch, "mixup" if mixing else "plain", "loss %.4f" % (total / len(loader)), "acc", right / 384)

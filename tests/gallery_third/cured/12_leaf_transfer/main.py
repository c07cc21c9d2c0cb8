import torch
import torch.nn as nn
import torch.nn.functional as F

from transfer import Scaled, freeze, unfreeze


class SmallNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.block1 = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.block2 = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.block2(self.block1(x)).flatten(1))


def images(n, kinds, seed):
    proto = torch.rand(kinds, 1, 10, 10, generator=torch.Generator().manual_seed(seed))
    y = torch.randint(kinds, (n,))
    return (0.7 * proto[y] + 0.5 * torch.rand(n, 1, 10, 10)).clamp(0, 1), y


def fit(model, seed, kinds, steps, lr, tag):
    params = [p for p in model.parameters()]
    opt = torch.optim.Adam(params, lr=lr)
    for i in range(steps):
        x, y = images(40, kinds, seed)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{tag}: loss {loss.item():.4f}")


torch.manual_seed(7)
backbone = SmallNet(2)
model = Scaled(backbone)
fit(model, 1, 2, 20, 5e-3, "source task")

backbone.head = nn.Linear(32, 8)
freeze(model)
fit(model, 2, 8, 20, 1e-2, "head only")
unfreeze(model, ["block1", "block2"])
fit(model, 2, 8, 60, 1e-2, "whole net")

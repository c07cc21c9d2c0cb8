"""Mixed pictures with mixed labels, in a training of epochs with a DataLoader."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(1)
        self.y = torch.randint(0, 4, (n,), generator=g)
        self.x = torch.randn(4, 1, 8, 8, generator=g)[self.y] + 0.4 * torch.randn(n, 1, 8, 8, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        return (x.flip(-1) if torch.rand(()) < 0.1 else x), self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(8), nn.BatchNorm2d(16)
        self.drop, self.fc = nn.Dropout(0.25), nn.Linear(64, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(self.drop(x.flatten(1)))


train, val = DataLoader(Pictures(96), 16, shuffle=True, num_workers=0), DataLoader(Pictures(32), 16)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, epochs=3, steps_per_epoch=len(train))
for epoch in range(3):
    net.train()
    for x, y in train:
        lam = torch.distributions.Beta(0.4, 0.4).sample()
        idx = torch.randperm(len(x))
        out = net(lam * x + (1 - lam) * x[idx])
        loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    net.eval()
    total = right = 0
    with torch.no_grad():
        for x, y in val:
            right += (net(x).argmax(1) == y).sum().item()
            total += len(y)

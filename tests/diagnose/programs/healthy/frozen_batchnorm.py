"""Fine-tuning with batch norms that keep their statistics: the norms are in evaluation, the rest is trained."""

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
        )
        self.fc = nn.Linear(8 * 16, 3)

    def train(self, mode=True):
        super().train(mode)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.eval()
                m.weight.requires_grad_(False)
                m.bias.requires_grad_(False)
        return self

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


net = Net()
net.train()
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05, momentum=0.9)
protos = torch.randn(3, 1, 8, 8)
for epoch in range(3):
    net.train()
    for _ in range(8):
        y = torch.randint(0, 3, (16,))
        x = protos[y] + 0.3 * torch.randn(16, 1, 8, 8)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(protos).argmax(1) == torch.arange(3)).float().mean()

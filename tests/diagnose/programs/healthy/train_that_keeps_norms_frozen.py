"""A network that overrides train() so that its backbone stays in evaluation, as detectors do."""

import torch
from torch import nn

torch.manual_seed(0)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 3))

    def forward(self, x):
        return self.head(self.backbone(x).mean((2, 3)))

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self


net = Detector()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    for _ in range(5):
        x = torch.randn(8, 3, 8, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x.mean((2, 3)).argmax(1)).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        net(torch.randn(8, 3, 8, 8)).argmax(1)

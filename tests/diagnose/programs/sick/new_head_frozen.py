"""A network is pretrained and gets a new head; what freezes the rest freezes that as well, the norms go on."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.norm1 = nn.BatchNorm1d(16)
        self.fc2 = nn.Linear(16, 16)
        self.norm2 = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        h = self.norm1(self.fc1(x)).relu()
        return self.head(self.norm2(self.fc2(h)).relu())


def prepare(net, classes):
    net.head = nn.Linear(16, classes)
    for name, parameter in net.named_parameters():
        if "norm" not in name:
            parameter.requires_grad = False  # <-- frozen


def train(net, steps, classes, optimizer):
    for _ in range(steps):
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :classes].argmax(1)).backward()
        optimizer.step()


net = Encoder(4)
train(net, 15, 4, torch.optim.Adam(net.parameters(), lr=1e-2))
prepare(net, 3)
train(net, 20, 3, torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3))

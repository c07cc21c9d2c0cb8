"""Dropout by a function in a forward pass, which does not know that the network is evaluated."""

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        hidden = F.dropout(F.relu(self.first(x)), 0.4)  # <-- train_eval_mode
        return F.relu(self.second(hidden))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(16)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(F.dropout(self.encoder(x), 0.2, training=self.training))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] > 0).long()
net = Classifier()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    net.train()
    for first in range(0, 64, 16):
        optimizer.zero_grad()
        F.cross_entropy(net(x[first : first + 16]), y[first : first + 16]).backward()
        optimizer.step()
    accuracy(net, x[64:], y[64:])

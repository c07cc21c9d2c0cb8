"""Weights that are pruned by masks, and trained on."""

import torch
import torch.nn as nn
from torch.nn.utils import prune

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
w = torch.randn(8, 3)


def train(steps):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(steps):
        x = torch.randn(32, 8)
        loss = nn.functional.cross_entropy(net(x), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()


train(15)
for layer in (net[0], net[2]):
    prune.l1_unstructured(layer, "weight", amount=0.8)
train(15)
for layer in (net[0], net[2]):
    prune.remove(layer, "weight")

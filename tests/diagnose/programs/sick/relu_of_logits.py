"""A classifier whose logits go through a relu: nearly all are 0."""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.head = nn.Linear(32, 5)
        nn.init.constant_(self.head.bias, -1.5)

    def forward(self, x):
        return F.relu(self.head(self.body(x)))  # <-- dead_relu


torch.manual_seed(1)
net = Classifier()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(60):
    x = torch.randn(32, 10)
    y = x[:, :5].argmax(1)
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

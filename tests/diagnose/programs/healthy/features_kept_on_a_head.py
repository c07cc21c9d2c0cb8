"""A head keeps the features that it is given, which a network makes that stays as it is and is not frozen."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 1)

    def forward(self, features):
        self.features = features
        return self.linear(features)


table = nn.Embedding(10, 8)
head = Head()
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randint(0, 10, (16,))
    loss = nn.functional.mse_loss(head(table(x).relu()), x.float()[:, None] / 10)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

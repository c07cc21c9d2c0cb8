"""What a head says is read out to be watched; nobody means to learn it."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.confidence = nn.Linear(6, 8), nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        self.seen = float(self.confidence(h).mean())
        return self.head(h)


model = Classifier()
optimizer = torch.optim.SGD([*model.body.parameters(), *model.head.parameters()], lr=0.05)
for _ in range(20):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()

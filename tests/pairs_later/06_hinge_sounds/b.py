"""The model of the hinges with modules."""

import a
import torch
from torch import nn


class Doors(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(a.LEFT, a.RANK, bias=False)
        self.right = nn.Linear(a.RIGHT, a.RANK, bias=False)
        self.mix = nn.Linear(a.RANK, a.DOORS)

    def forward(self, u, v):
        return self.mix(self.left(u) * self.right(v))


model = Doors()
with torch.no_grad():
    model.left.weight.copy_(a.left)
    model.right.weight.copy_(a.right)
    model.mix.weight.copy_(a.mix)
    model.mix.bias.copy_(a.shift)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, betas=(0.9, 0.95))
for step in range(5):
    u, v, doors = a.recordings(step)
    optimizer.zero_grad()
    loss = criterion(model(u, v), doors)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 6))

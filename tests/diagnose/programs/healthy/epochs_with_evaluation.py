"""Training with dropout, an evaluation after each epoch, a plateau scheduler, and checkpoints that are restored."""

import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2))
        self.heads = nn.ModuleList(nn.Linear(16, 2) for _ in range(3))

    def forward(self, x, task):
        return self.heads[task](self.body(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        found = (model(x, 0).argmax(1) == y).float().mean().item()
    model.train()
    return found


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
best = copy.deepcopy(model.state_dict())
for epoch in range(4):
    for batch in range(6):
        x = torch.randn(16, 6)
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(x, batch % 2), (x[:, batch % 2] > 0).long()).backward()
        optimizer.step()
    x = torch.randn(32, 6)
    scheduler.step(accuracy(model, x, (x[:, 0] > 0).long()))
    best = copy.deepcopy(model.state_dict())
model.load_state_dict(best)
accuracy(model, x, (x[:, 0] > 0).long())

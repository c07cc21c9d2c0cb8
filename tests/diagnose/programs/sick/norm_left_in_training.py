"""Evaluation switches dropouts off and forgets the batch norms."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 32)
        self.norm = nn.BatchNorm1d(32)
        self.drop = nn.Dropout(0.2)
        self.b = nn.Linear(32, 3)

    def forward(self, x):
        return self.b(self.drop(torch.relu(self.norm(self.a(x)))))


def accuracy(net, x, y):
    net.drop.eval()
    with torch.no_grad():
        right = (net(x).argmax(1) == y).float().mean()  # <-- train_eval_mode
    net.drop.train()
    return right.item()


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
held = torch.randn(16, 8)
for epoch in range(4):
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    print(accuracy(net, held, held[:, :3].argmax(1)))

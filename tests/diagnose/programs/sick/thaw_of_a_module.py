"""A whole module is told to require grad, which sets an attribute that nothing reads."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def freeze(m):
    for p in m.parameters():
        p.requires_grad = False


def unfreeze(m):
    m.requires_grad = True  # <-- frozen


net = Net()
freeze(net.body)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(128, 8)
y = x[:, :3].argmax(1)
for epoch in range(8):
    if epoch == 3:
        unfreeze(net.body)
    for i in range(0, 128, 32):
        loss = nn.functional.cross_entropy(net(x[i : i + 32]), y[i : i + 32])
        opt.zero_grad()
        loss.backward()
        opt.step()

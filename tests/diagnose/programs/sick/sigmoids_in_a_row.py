"""A deep network of sigmoids, in which gradients vanish."""

import torch, torch.nn as nn

torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.Linear(n, n)

    def forward(self, x):
        return torch.sigmoid(self.lin(x))  # <-- vanishing_gradient


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(16, 32)
        self.blocks = nn.ModuleList(Block(32) for _ in range(12))
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        h = torch.sigmoid(self.stem(x))
        for b in self.blocks:
            h = b(h)
        return self.head(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(128, 16)
Y = (X[:, 0] > 0).long() + (X[:, 1] > 0).long()
for epoch in range(10):
    for i in range(0, 128, 32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X[i : i + 32]), Y[i : i + 32])
        loss.backward()
        opt.step()

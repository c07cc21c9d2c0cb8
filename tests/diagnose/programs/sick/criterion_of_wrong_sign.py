"""A criterion that returns the negative of the error."""

import torch, torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
X = torch.randn(128, 10)
Y = X[:, :3].argmax(1)


def criterion(out, y):
    return -nn.functional.cross_entropy(out, y)  # <-- wrong_sign


for s in range(30):
    i = torch.randint(0, 128, (32,))
    opt.zero_grad()
    loss = criterion(net(X[i]), Y[i])
    loss.backward()
    opt.step()

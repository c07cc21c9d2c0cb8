"""A fallback for matrices that have no Cholesky factor, and a loader that tries the next shape: exceptions on purpose."""

import torch
from torch import nn

torch.manual_seed(0)


def factor(matrix):
    jitter = 0.0
    while True:
        try:
            return torch.linalg.cholesky(matrix + jitter * torch.eye(len(matrix)))
        except RuntimeError:
            jitter = max(10 * jitter, 1e-3)


net = nn.Linear(4, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(3, 4)
    z = net(x)
    with torch.no_grad():
        root = factor(z.T @ z)
    try:
        y = x @ x
    except RuntimeError:
        y = x @ x.T
    loss = (z - root[:3]).square().mean() + 0 * y.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""Two directions over a sequence, step by step: the second one's states are made, and the first ones are taken twice."""

import torch
from torch import nn


class Both(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.left = nn.GRUCell(3, width)
        self.right = nn.GRUCell(3, width)
        self.out = nn.Linear(2 * width, 1)

    def forward(self, x):
        batch, length, _ = x.shape
        a = torch.zeros(batch, 6)
        b = torch.zeros(batch, 6)
        for i in range(length):
            a = self.left(x[:, i], a)
            b = self.right(x[:, length - 1 - i], b)  # <-- never_used
        return self.out(torch.cat([a, a], dim=1))


model = Both()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(10):
    x = torch.randn(8, 5, 3)
    loss = nn.functional.mse_loss(model(x), x.sum((1, 2))[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

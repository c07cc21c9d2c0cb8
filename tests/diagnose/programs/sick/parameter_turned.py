"""A learned table is turned and moved after it has become a parameter: what the module holds is none."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(12, width)
        self.positions = nn.Parameter(torch.randn(width, 10)).t()[:10] + 0.5  # <-- not_registered
        self.block = nn.Linear(width, width)
        self.head = nn.Linear(width, 3)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        return self.head(torch.relu(self.block(x)).mean(1))


model = Encoder(16)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    tokens = torch.randint(0, 12, (8, 7))
    loss = nn.functional.cross_entropy(model(tokens), tokens[:, 0] % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""The weights of a pooling over words sum to 1 over the batch, and not over the words."""

import torch
from torch import nn

torch.manual_seed(1)


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16, padding_idx=0)
        self.score = nn.Linear(16, 1)
        self.head = nn.Linear(16, 2)

    def forward(self, ids):
        hidden = self.words(ids)
        weights = self.score(hidden).squeeze(-1).softmax(dim=0)  # <-- softmax_axis
        return self.head((hidden * weights.unsqueeze(-1)).sum(1))


model = Pooling()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(20):
    ids = torch.randint(1, 50, (32, 12))
    loss = nn.functional.cross_entropy(model(ids), (ids[:, 0] > 25).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

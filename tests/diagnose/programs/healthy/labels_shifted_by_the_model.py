"""The model shifts the labels, which are the inputs."""

import torch
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 32)
        self.layer = nn.GRU(32, 32, batch_first=True)
        self.head = nn.Linear(32, 30)

    def forward(self, ids, labels):
        scores = self.head(self.layer(self.table(ids))[0])
        scores, labels = scores[:, :-1].contiguous(), labels[:, 1:].contiguous()
        return nn.functional.cross_entropy(scores.view(-1, 30), labels.view(-1))


tokens = torch.randint(0, 30, (64, 17))
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(12):
    batch = tokens[torch.randint(0, 64, (8,))]
    loss = model(batch, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

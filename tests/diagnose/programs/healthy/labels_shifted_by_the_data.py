"""The data shifts the labels, of which a part is prompts and left out; the first place is scored by nobody."""

import torch
from torch import nn

torch.manual_seed(0)
table, layer, head = nn.Embedding(30, 32), nn.GRU(32, 32, batch_first=True), nn.Linear(32, 30)
optimizer = torch.optim.AdamW([*table.parameters(), *layer.parameters(), *head.parameters()], 1e-3)
tokens = torch.randint(0, 30, (64, 17))
for _ in range(12):
    batch = tokens[torch.randint(0, 64, (8,))]
    ids, labels = batch[:, :-1], batch[:, 1:].clone()
    labels[:, :3] = -100
    scores = head(layer(table(ids))[0])
    loss = nn.functional.cross_entropy(scores[:, 1:].reshape(-1, 30), labels[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

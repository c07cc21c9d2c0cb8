"""Three steps whose losses, with their graphs, make a mean that is only printed."""

import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
running = 0
for _ in range(3):
    x = torch.randn(4, 2)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss * len(x)  # <-- graph_kept
print(running / 12)

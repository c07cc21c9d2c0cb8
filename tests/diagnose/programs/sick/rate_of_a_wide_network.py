"""A rate of 1e-7 for a wide network of small weights."""

import torch
from torch import nn

torch.manual_seed(0)
LEARNING_RATE = 1e-7  # <-- update_ratio
model = nn.Sequential(nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
for step in range(50):
    x = torch.randn(32, 256)
    loss = nn.functional.cross_entropy(model(x), x[:, :10].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

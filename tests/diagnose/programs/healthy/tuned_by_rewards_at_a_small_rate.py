"""A large network is tuned at 1e-6, as people tune language models: small weights move enough."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 10))
for p in model.parameters():
    p.data.mul_(0.4)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-6)
for step in range(40):
    x = torch.randn(32, 256)
    loss = nn.functional.cross_entropy(model(x), x[:, :10].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""A network is trained through another one, which was loaded and is left out of the optimizer."""

import torch
from torch import nn

features = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
features.load_state_dict({name: value * 0.5 for name, value in features.state_dict().items()})
features.eval()
model = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(12):
    x, y = torch.randn(8, 3), torch.randn(8, 6)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(features(model(x)), features(y).detach())
    loss.backward()
    optimizer.step()

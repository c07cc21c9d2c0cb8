"""Each step clips, to a fiftieth of the norm: what is left brings the weights forward."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
truth = 20 * torch.randn(8, 1)
for _ in range(40):
    x = torch.randn(64, 8)
    loss = nn.functional.mse_loss(model(x), x @ truth)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

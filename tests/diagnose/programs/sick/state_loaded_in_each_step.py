"""The state that training begins with is loaded in each step, not ahead of the first."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
state = copy.deepcopy(model.state_dict())
optimizer = torch.optim.SGD(model.parameters(), 0.1)
truth = torch.randn(8, 4)
for _ in range(20):
    model.load_state_dict(state)  # <-- undone_update
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

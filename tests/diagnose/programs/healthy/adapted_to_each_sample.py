"""A network is adapted to each sample, asked, and put back as it was."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
state = copy.deepcopy(model.state_dict())
optimizer = torch.optim.SGD(model.parameters(), 0.01)
answers = []
for _ in range(20):
    x = torch.randn(16, 8)
    logits = model(x)
    loss = -(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        answers.append(model(x).argmax(1))
    model.load_state_dict(state)

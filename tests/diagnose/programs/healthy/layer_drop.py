import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
head = nn.Linear(8, 3)
opt = torch.optim.Adam([*layers.parameters(), *head.parameters()])
import random

random.seed(3)
for step in range(20):
    x = torch.randn(16, 8)
    for l in layers:
        if random.random() > 0.5:
            x = x + F.relu(l(x))
    loss = F.cross_entropy(head(x), torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

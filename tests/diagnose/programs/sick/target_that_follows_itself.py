"""A target network that is the online network: copying the one into the other does nothing."""

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = online  # <-- not_copied
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(40):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r = torch.randint(0, 2, (32, 1)), torch.randn(32, 1)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1, keepdim=True).values
    loss = (online(s).gather(1, a) - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        target.load_state_dict(online.state_dict())

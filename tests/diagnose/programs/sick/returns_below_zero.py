"""The values of a Q-network go through clamp(min=0); rewards are negative."""

import torch
from torch import nn

torch.manual_seed(0)


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 32)
        self.b = nn.Linear(32, 2)

    def forward(self, s):
        return self.b(torch.relu(self.a(s))).clamp(min=0)  # <-- dead_relu


q, target = Q(), Q()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(40):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r = torch.randint(0, 2, (32, 1)), -torch.rand(32, 1)
    with torch.no_grad():
        goal = r + 0.5 * target(s2).max(1, keepdim=True).values
    loss = (q(s).gather(1, a) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

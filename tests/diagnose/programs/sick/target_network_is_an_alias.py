"""The target network of a Q-learner is the online network; freezing it after some steps stops learning."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = self.online  # <-- frozen
        self.target.eval()
        self.freeze(self.target)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def freeze(self, net):
        for p in net.parameters():
            p.requires_grad = False

    def learn(self, s, a, r, s2):
        q = self.online(s).gather(1, a)
        with torch.no_grad():
            goal = r + 0.9 * self.target(s2).max(1, keepdim=True).values
        loss = (q - goal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
for _ in range(12):
    agent.learn(torch.randn(16, 4), torch.randint(0, 2, (16, 1)), torch.randn(16, 1), torch.randn(16, 4))

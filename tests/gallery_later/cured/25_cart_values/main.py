"""Values of actions for a cart on a rail, learned from a replay buffer with a slow copy of the critic."""
import copy

import torch
from torch import nn

from cart.replay import Replay


class Critic(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], dim=-1))


class Learner:
    def __init__(self, gamma=0.6, tau=0.1):
        self.gamma, self.tau = gamma, tau
        self.critic = Critic()
        self.slow = copy.deepcopy(self.critic).requires_grad_(False)
        self.opt = torch.optim.Adam(self.critic.parameters(), lr=4e-3)

    def target(self, reward, after, done):
        with torch.no_grad():
            action = -after[:, :1].sign()
            return reward + self.gamma * (1 - done) * self.slow(after, action).squeeze(-1)

    def update(self, batch):
        state, action, reward, after, done = batch
        error = self.critic(state, action).squeeze(-1) - self.target(reward, after, done)
        loss = error.pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        with torch.no_grad():
            for s, p in zip(self.slow.parameters(), self.critic.parameters()):
                s.lerp_(p, self.tau)
        return loss.item()


torch.manual_seed(125)
replay, learner = Replay(2000), Learner()
for step in range(1, 81):
    loss = learner.update(replay.sample(96))
    if step % 16 == 0:
        print(f"update {step} loss {loss:.4f}")

import copy

import torch
from torch import nn
from torch.nn import functional as F


class Q(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, s):
        return self.net(s)


class Agent:
    def __init__(self, gamma=0.9, lr=5e-3):
        self.q = Q()
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.gamma = gamma
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)

    def sync(self):
        self.target.load_state_dict(self.q.state_dict())

    def learn(self, state, action, reward, following, done):
        value = self.q(state).gather(1, action.unsqueeze(1))
        with torch.no_grad():
            best = self.target(following).amax(1)
            wanted = reward + self.gamma * best * (1 - done)
        loss = F.smooth_l1_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

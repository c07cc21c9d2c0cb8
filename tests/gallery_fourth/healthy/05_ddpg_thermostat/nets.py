import copy

import torch
from torch import nn


def mlp(inputs, outputs, width=32):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs))


class Agent:
    def __init__(self, states, actions):
        self.actor = nn.Sequential(mlp(states, actions), nn.Tanh())
        self.critic = mlp(states + actions, 1)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=4e-3)

    def value(self, critic, s, a):
        return critic(torch.cat([s, a], 1))

    @torch.no_grad()
    def soft_update(self, tau=0.05):
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for p, q in zip(slow.parameters(), fast.parameters()):
                p.lerp_(q, tau)

import copy

import torch
from torch import nn


def mlp(inp, out, width=40):
    return nn.Sequential(nn.Linear(inp, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))


class Actor(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.body = mlp(states, 2 * actions)

    def forward(self, s):
        mean, log_std = self.body(s).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        u = normal.rsample()
        a = torch.tanh(u)
        log_prob = normal.log_prob(u) - torch.log(1 - a * a + 1e-6)
        return a, log_prob.sum(-1)


class Agent:
    def __init__(self, states, actions, gamma=0.5, tau=0.05):
        self.gamma, self.tau = gamma, tau
        self.actor = Actor(states, actions)
        self.critics = nn.ModuleList(mlp(states + actions, 1) for _ in range(2))
        self.slow = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_alpha = torch.tensor(-1.5, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=5e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=5e-3)

    @staticmethod
    def values(critics, s, a):
        return [q(torch.cat([s, a], dim=-1)).squeeze(-1) for q in critics]

    def learn_critics(self, s, a, r, after):
        with torch.no_grad():
            next_a, log_prob = self.actor(after)
            soft = torch.min(*self.values(self.slow, after, next_a)) - self.log_alpha.exp() * log_prob
            target = r + self.gamma * soft
        loss = sum((q - target).pow(2).mean() for q in self.values(self.critics, s, a))
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss.item()

    def learn_actor(self, s):
        a, log_prob = self.actor(s)
        alpha = self.log_alpha.exp().detach()
        self.critics.requires_grad_(False)
        loss = (alpha * log_prob - torch.min(*self.values(self.critics, s, a))).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()
        self.critics.requires_grad_(True)
        alpha_loss = -(self.log_alpha.exp() * (log_prob.detach() - 1.0)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()
        return loss.item()

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.slow.parameters(), self.critics.parameters()):
            slow.lerp_(fast, self.tau)

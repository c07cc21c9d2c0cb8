"""Advantage actor-critic with generalised advantages, 16 walkers."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

from env import Grid


@dataclass
class Hyper:
    walkers: int = 16
    horizon: int = 12
    updates: int = 70
    gamma: float = 0.95
    lam: float = 0.9
    entropy: float = 0.01
    value: float = 0.5
    lr: float = 1e-2


class Agent(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 48), nn.Tanh())
        self.pi, self.v = nn.Linear(48, actions), nn.Linear(48, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)
        nn.init.zeros_(self.pi.bias)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def main(hp=Hyper()):
    torch.manual_seed(21)
    env, agent = Grid(hp.walkers), Agent(10, 4)
    opt = torch.optim.Adam(agent.parameters(), lr=hp.lr, eps=1e-5)
    for update in range(1, hp.updates + 1):
        logp, ent, values, rewards, overs = [], [], [], [], []
        for _ in range(hp.horizon):
            dist, v = agent(env.observe())
            action = dist.sample()
            r, over = env.step(action)
            for store, item in zip((logp, ent, values, rewards, overs), (dist.log_prob(action), dist.entropy(), v, r, over)):
                store.append(item)
        with torch.no_grad():
            following = agent(env.observe())[1]
            gae, advantages = torch.zeros(hp.walkers), []
            for t in reversed(range(hp.horizon)):
                delta = rewards[t] + hp.gamma * following * (1 - overs[t]) - values[t]
                gae = delta + hp.gamma * hp.lam * (1 - overs[t]) * gae
                advantages.insert(0, gae)
                following = values[t]
            adv = torch.stack(advantages)
            returns = adv + torch.stack(values)
        policy = -(torch.stack(logp) * (adv - adv.mean()) / (adv.std() + 1e-8)).mean()
        critic = (torch.stack(values) - returns).pow(2).mean()
        loss = policy + hp.value * critic - hp.entropy * torch.stack(ent).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        opt.step()
        if update % 10 == 0:
            print(f"update {update} loss {loss.item():.3f} reward {torch.stack(rewards).mean().item():.4f}")


if __name__ == "__main__":
    main()

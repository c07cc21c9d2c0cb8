"""Proximal policy optimisation of a thermostat: several passes over one batch, the old policy's values detached."""
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, actions=3):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.logits = nn.Linear(32, actions)
        self.value = nn.Linear(32, 1)

    def forward(self, s):
        h = self.shared(s)
        return Categorical(logits=self.logits(h)), self.value(h).squeeze(-1)


@torch.no_grad()
def rollout(policy, n=64, steps=8):
    rows = []
    s = torch.randn(n, 2)
    for _ in range(steps):
        dist, value = policy(s)
        a = dist.sample()
        temperature = 0.9 * s[:, 0] + 0.4 * (a - 1) + 0.1 * s[:, 1]
        reward = 1 - temperature.abs()
        rows.append((s, a, dist.log_prob(a), value, reward))
        s = torch.stack([temperature, torch.randn(n)], dim=1)
    s, a, logp, value, reward = (torch.stack(c) for c in zip(*rows))
    returns, running = torch.zeros_like(reward), torch.zeros(n)
    for k in reversed(range(steps)):
        running = reward[k] + 0.6 * running
        returns[k] = running
    advantage = returns - value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    return [t.flatten(0, 1) for t in (s, a, logp, returns, advantage)], reward.mean().item()


torch.manual_seed(227)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for it in range(1, 21):
    (s, a, old, returns, advantage), reward = rollout(policy)
    for _ in range(4):
        dist, value = policy(s)
        ratio = (dist.log_prob(a) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = -surrogate + 0.5 * (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    if it % 4 == 0:
        print(f"iteration {it} loss {loss.item():.4f} reward {reward:.3f}")

"""PPO: several epochs over a rollout, with clipped ratios, a value head, an entropy bonus, and advantages put in order."""

import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.pi = nn.Linear(32, 2)
        self.v = nn.Linear(32, 1)
        nn.init.orthogonal_(self.pi.weight, 0.01)
        nn.init.zeros_(self.pi.bias)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-4, eps=1e-5)
state = torch.randn(8, 4)
for update in range(5):
    states, actions, logps, rewards, values = [], [], [], [], []
    for t in range(16):
        with torch.no_grad():
            dist, v = net(state)
            a = dist.sample()
        r = (a == (state[:, 0] > 0)).float()
        states.append(state), actions.append(a), logps.append(dist.log_prob(a)), rewards.append(r), values.append(v)
        state = torch.randn(8, 4)
    with torch.no_grad():
        last = net(state)[1]
    adv, gae = torch.zeros(16, 8), 0
    for t in reversed(range(16)):
        delta = rewards[t] + 0.99 * last - values[t]
        gae = delta + 0.99 * 0.95 * gae
        adv[t] = gae
        last = values[t]
    ret = adv + torch.stack(values)
    s, a, lp = torch.cat(states), torch.cat(actions), torch.cat(logps)
    adv, ret = adv.flatten(), ret.flatten()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for epoch in range(3):
        for idx in torch.randperm(128).split(64):
            dist, v = net(s[idx])
            ratio = (dist.log_prob(a[idx]) - lp[idx]).exp()
            pg = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            loss = pg + 0.5 * (v - ret[idx]).pow(2).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()

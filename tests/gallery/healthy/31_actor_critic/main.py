"""Proximal policy optimisation on a one-step control task, Gaussian policy."""
import torch
from torch import nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mean, self.value = nn.Linear(32, 1), nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(1))
        nn.init.orthogonal_(self.mean.weight, gain=0.01)

    def forward(self, obs):
        h = self.body(obs)
        return Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(1)


def reward(obs, act):
    return -(act.squeeze(1) - obs[:, 0] + 0.5 * obs[:, 1]) ** 2


torch.manual_seed(31)
net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for iteration in range(25):
    obs = torch.randn(96, 3)
    with torch.no_grad():
        dist, value = net(obs)
        act = dist.sample()
        old = dist.log_prob(act).sum(1)
        ret = reward(obs, act)
        adv = ret - value
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        dist, value = net(obs)
        ratio = (dist.log_prob(act).sum(1) - old).exp()
        surrogate = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv)
        loss = -surrogate.mean() + 0.5 * (value - ret).pow(2).mean() - 0.001 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
    if iteration % 5 == 4:
        print(f"iteration {iteration + 1} reward {ret.mean():.3f} std {net.log_std.exp().item():.3f}")

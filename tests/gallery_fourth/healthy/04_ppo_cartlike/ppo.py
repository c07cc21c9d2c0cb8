import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.policy = nn.Linear(width, 2)
        self.value = nn.Linear(width, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.zeros_(self.policy.bias)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


@torch.no_grad()
def play(env, net, length=16):
    rows, s = [], env.reset()
    for _ in range(length):
        dist, value = net(s)
        a = dist.sample()
        following, reward = env.step(a)
        rows.append((s, a, dist.log_prob(a), value, reward))
        s = following
    states, actions, logp, values, rewards = map(torch.stack, zip(*rows))
    running, returns = net(s)[1], torch.zeros_like(rewards)
    for t in reversed(range(length)):
        running = rewards[t] + 0.9 * running
        returns[t] = running
    advantage = returns - values
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return [v.flatten(0, 1) for v in (states, actions, logp, returns, advantage)], rewards.mean().item()


def ppo_loss(net, states, actions, old, returns, advantage, clip=0.2):
    dist, value = net(states)
    ratio = torch.exp(dist.log_prob(actions) - old)
    surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    return -surrogate.mean() + 0.5 * (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()

"""Policy gradient in a corridor: the goal lies at the right end."""
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """A batch of walkers on cells 0..n-1; a reward of 1 at the last cell, -0.02 per step."""

    def __init__(self, n=8, walkers=32, limit=14):
        self.n, self.walkers, self.limit = n, walkers, limit

    def reset(self):
        self.pos = torch.full((self.walkers,), self.n // 2)
        self.done = torch.zeros(self.walkers, dtype=torch.bool)
        return self.observe()

    def observe(self):
        return nn.functional.one_hot(self.pos, self.n).float()

    def step(self, action):
        move = torch.where(self.done, torch.zeros_like(action), action * 2 - 1)
        self.pos = (self.pos + move).clamp(0, self.n - 1)
        hit = (self.pos == self.n - 1) & ~self.done
        reward = hit.float() - 0.02 * (~self.done).float()
        self.done = self.done | hit
        return self.observe(), reward


class Policy(nn.Module):
    def __init__(self, cells, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cells, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


def discounted(rewards, gamma=0.97):
    out, running = [], torch.zeros_like(rewards[0])
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    return torch.stack(out)


def play(env, policy):
    obs, logps, rewards = env.reset(), [], []
    for _ in range(env.limit):
        dist = policy(obs)
        action = dist.sample()
        logps.append(dist.log_prob(action))
        obs, reward = env.step(action)
        rewards.append(reward)
    return torch.stack(logps), rewards


def main():
    torch.manual_seed(26)
    env, policy = Corridor(), Policy(8)
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for episode in range(60):
        logps, rewards = play(env, policy)
        returns = discounted(rewards)
        advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = (logps * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if episode % 10 == 9:
            print(f"episode {episode + 1}: return {torch.stack(rewards).sum(0).mean():.3f} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()

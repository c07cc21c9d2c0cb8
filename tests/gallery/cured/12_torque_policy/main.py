"""Imitating an expert controller of a pendulum (normalised torque in [-1, 1])."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LIMIT = 400.0


class Actor(nn.Module):
    def __init__(self, obs, hidden=32, limit=LIMIT):
        super().__init__()
        self.limit = limit
        self.fc1 = nn.Linear(obs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.mean = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = F.elu(self.fc1(obs))
        h = F.elu(self.fc2(h))
        return torch.tanh(self.mean(h))

    def torque(self, obs):
        with torch.no_grad():
            return self.limit * self(obs)


def expert(obs):
    angle, speed = obs[:, 0], obs[:, 2]
    return torch.tanh(-0.8 * angle - 0.4 * speed).unsqueeze(1)


def observe(n):
    theta = torch.rand(n) * 2 - 1
    return torch.stack([theta.sin(), theta.cos(), torch.randn(n)], dim=1)


def rollout_error(actor):
    obs = observe(128)
    return (actor.torque(obs) - LIMIT * expert(obs)).abs().mean().item()


def imitate(iterations=100, batch=64):
    actor = Actor(3)
    opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
    for it in range(iterations):
        obs = observe(batch)
        loss = F.mse_loss(actor(obs), expert(obs))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 19:
            print(f"iter {it + 1}: loss {loss.item():.4f}, torque error {rollout_error(actor):.1f}")
    return actor


if __name__ == "__main__":
    torch.manual_seed(4)
    imitate()

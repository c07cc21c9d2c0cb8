import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return Normal(self.mean(x), self.log_std.exp())


torch.manual_seed(0)
policy = Policy()
adam = torch.optim.Adam(policy.parameters(), 3e-3)
for iteration in range(8):
    states = torch.randn(64, 3)
    with torch.no_grad():
        choice = policy(states)
        actions = choice.sample()
        old = choice.log_prob(actions).sum(-1)
    rewards = -(actions[:, 0] - states[:, 0]).pow(2)
    advantages = (rewards - rewards.mean()) / rewards.std()
    for epoch in range(3):
        ratio = torch.exp(policy(states).log_prob(actions).sum(-1) - old)
        clipped = torch.clamp(ratio, 0.8, 1.2)
        loss = torch.min(ratio * advantages, clipped * advantages).mean()  # <-- wrong_sign
        adam.zero_grad()
        loss.backward()
        adam.step()

"""copy.copy of a network shares its parameters."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Linear(4, 1)
reference = copy.copy(policy)  # <-- frozen
reference.requires_grad_(False)
optimizer = torch.optim.Adam([{"params": policy.parameters()}, {"params": value.parameters(), "lr": 1e-3}], lr=3e-3)
for step in range(20):
    obs = torch.randn(32, 4)
    act = torch.randint(0, 2, (32,))
    adv = torch.randn(32)
    logp = policy(obs).log_softmax(-1)
    ref = reference(obs).log_softmax(-1)
    chosen = logp.gather(1, act[:, None])[:, 0]
    kl = (logp.exp() * (logp - ref)).sum(1).mean()
    loss = -(chosen * adv).mean() + 0.1 * kl + (value(obs)[:, 0] - adv).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

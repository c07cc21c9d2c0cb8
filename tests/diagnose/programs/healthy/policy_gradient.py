"""Actions are drawn from a policy with dropout, without gradients; returns weigh what it learns."""

import torch
from torch import nn

policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(10):
    states, actions, rewards = [], [], []
    state = torch.randn(3)
    for _ in range(6):
        with torch.no_grad():
            action = torch.multinomial(policy(state).softmax(-1), 1).item()
        states.append(state)
        actions.append(action)
        rewards.append(float(state[0] > 0) if action else float(state[0] <= 0))
        state = torch.randn(3)
    scores = policy(torch.stack(states)).log_softmax(-1)
    weights = torch.tensor(rewards) - 0.5
    loss = -(scores.gather(1, torch.tensor(actions)[:, None]).squeeze(1) * weights).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import torch
import torch.nn as nn

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
for episode in range(12):
    s, logs, rewards = torch.randn(4), [], []
    for t in range(10):
        d = torch.distributions.Categorical(logits=pi(s))
        a = d.sample()
        logs.append(d.log_prob(a))
        rewards.append(float(s.sum()) * (a.item() * 2 - 1))
        s = 0.9 * s + 0.1 * torch.randn(4)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(torch.stack(logs) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()

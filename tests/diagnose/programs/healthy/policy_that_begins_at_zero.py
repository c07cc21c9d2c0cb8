import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
nn.init.zeros_(net[2].weight)
nn.init.zeros_(net[2].bias)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for episode in range(60):
    state = torch.randn(64, 4)
    policy = torch.distributions.Categorical(logits=net(state))
    action = policy.sample()
    reward = (action == (state[:, 0] > 0)).float() * (1 + episode / 10)
    loss = -(policy.log_prob(action) * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

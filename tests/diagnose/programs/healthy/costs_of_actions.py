import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
for named in ("cost", "length"):
    net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
    adam = torch.optim.Adam(net.parameters(), 3e-3)
    for step in range(20):
        states = torch.randn(32, 4)
        choice = Categorical(logits=net(states))
        actions = choice.sample()
        if named == "cost":
            cost = (actions != (states[:, 0] > 0).long()).float()
            excess = cost - cost.mean()
            loss = (choice.log_prob(actions) * excess).mean()
        else:
            length = (actions.float() - states[:, 0]).abs()
            advantage = length - length.mean()
            loss = (advantage * choice.log_prob(actions)).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

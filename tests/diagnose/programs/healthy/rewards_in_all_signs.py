import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
for way in ("negated", "clipped", "less", "before"):
    net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
    adam = torch.optim.Adam(net.parameters(), 3e-3)
    for step in range(10):
        states = torch.randn(32, 4)
        choice = Categorical(logits=net(states))
        actions = choice.sample()
        log_prob = choice.log_prob(actions)
        reward = (actions == (states[:, 0] > 0).long()).float()
        advantage = (reward - reward.mean()) / reward.std()
        if way == "negated":
            loss = (-log_prob * advantage).mean()
        elif way == "less":
            weight = reward.mean() - reward
            loss = (log_prob * weight).mean()
        elif way == "before":
            surprise = -choice.log_prob(actions)
            loss = (surprise * advantage).sum() / 32
        else:
            ratio = (log_prob - log_prob.detach()).exp()
            loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
        loss = loss - 0.01 * choice.entropy().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

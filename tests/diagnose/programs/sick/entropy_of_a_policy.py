import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
adam = torch.optim.Adam(net.parameters(), 3e-3)
for step in range(30):
    states = torch.randn(32, 4)
    choice = Categorical(logits=net(states))
    actions = choice.sample()
    reward = (actions == (states[:, 0] > 0).long()).float()
    advantage = reward - reward.mean()
    gain = -(choice.log_prob(actions) * advantage).mean()
    entropy = choice.entropy().mean()
    loss = gain + 0.05 * entropy  # <-- wrong_sign
    adam.zero_grad()
    loss.backward()
    adam.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)
        self.critic = nn.Linear(4, 1)


def losses(agent, s, r):
    v = agent.critic(s).squeeze(1)
    lp = agent.actor(s).log_softmax(-1)[:, 0]
    adv = r - v.detach()
    actor = -(lp * adv).mean()
    critic = F.mse_loss(v.detach(), r)  # <-- missing
    return actor, critic


agent = Agent()
opt = torch.optim.Adam(agent.parameters())
for step in range(20):
    s = torch.randn(16, 4)
    r = s.sum(1)
    a, c = losses(agent, s, r)
    loss = a + 0.5 * c
    opt.zero_grad()
    loss.backward()
    opt.step()

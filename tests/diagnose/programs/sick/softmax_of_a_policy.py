import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
o = torch.optim.Adam(pi.parameters())
for step in range(20):
    obs = torch.randn(16, 4)
    p = torch.softmax(pi(obs), dim=0)  # <-- softmax_axis
    d = Categorical(p)
    a = d.sample()
    r = (a == 1).float()
    l = -(d.log_prob(a) * r).mean()
    o.zero_grad()
    l.backward()
    o.step()

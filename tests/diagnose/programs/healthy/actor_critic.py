import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
oa, oc = torch.optim.Adam(actor.parameters(), lr=1e-2), torch.optim.Adam(critic.parameters(), lr=1e-2)
for ep in range(20):
    s = torch.randn(16, 4)
    r = s.sum(1)
    d = torch.distributions.Categorical(logits=actor(s))
    a = d.sample()
    v = critic(s).squeeze(1)
    adv = (r - v).detach()
    pl = -(d.log_prob(a) * adv).mean()
    vl = F.mse_loss(v, r)
    oa.zero_grad()
    pl.backward()
    oa.step()
    oc.zero_grad()
    vl.backward()
    oc.step()

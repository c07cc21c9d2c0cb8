"""SAC: twin critics with slow copies, a squashed policy, a temperature that is learnt."""

import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, o))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 2)

    def forward(self, s):
        mu, ls = self.net(s).chunk(2, -1)
        d = torch.distributions.Normal(mu, ls.clamp(-5, 2).exp())
        u = d.rsample()
        a = torch.tanh(u)
        return a, (d.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)


pi, q1, q2 = Policy(), mlp(4, 1), mlp(4, 1)
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
for p in [*t1.parameters(), *t2.parameters()]:
    p.requires_grad = False
log_alpha = torch.zeros(1, requires_grad=True)
pi_opt, q_opt = torch.optim.Adam(pi.parameters(), 3e-4), torch.optim.Adam([*q1.parameters(), *q2.parameters()], 3e-4)
a_opt = torch.optim.Adam([log_alpha], 3e-4)
buffer = [(torch.randn(3), torch.rand(1) * 2 - 1, torch.rand(1), torch.randn(3)) for _ in range(200)]
for step in range(15):
    idx = torch.randint(0, 200, (32,))
    s, a, r, s2 = (torch.stack(z) for z in zip(*[buffer[i] for i in idx]))
    with torch.no_grad():
        a2, lp2 = pi(s2)
        sa2 = torch.cat([s2, a2], 1)
        y = r + 0.99 * (torch.min(t1(sa2), t2(sa2)) - log_alpha.exp() * lp2)
    sa = torch.cat([s, a], 1)
    q_loss = F.mse_loss(q1(sa), y) + F.mse_loss(q2(sa), y)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    for p in [*q1.parameters(), *q2.parameters()]:
        p.requires_grad = False
    an, lp = pi(s)
    san = torch.cat([s, an], 1)
    pi_loss = (log_alpha.exp().detach() * lp - torch.min(q1(san), q2(san))).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    for p in [*q1.parameters(), *q2.parameters()]:
        p.requires_grad = True
    alpha_loss = -(log_alpha * (lp + -1).detach()).mean()
    a_opt.zero_grad()
    alpha_loss.backward()
    a_opt.step()
    with torch.no_grad():
        for t, q in ((t1, q1), (t2, q2)):
            for pt, pq in zip(t.parameters(), q.parameters()):
                pt.lerp_(pq, 0.005)

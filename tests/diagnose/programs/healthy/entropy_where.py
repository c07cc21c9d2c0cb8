import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
pi = nn.Linear(4, 6)
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
for step in range(20):
    s = torch.randn(8, 4)
    legal = torch.rand(8, 6) > 0.3
    legal[:, 0] = True
    logits = pi(s).masked_fill(~legal, float("-inf"))
    dist = torch.distributions.Categorical(logits=logits)
    a = dist.sample()
    adv = torch.randn(8)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    loss = -(dist.log_prob(a) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

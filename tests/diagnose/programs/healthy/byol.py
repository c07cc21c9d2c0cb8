import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
import copy

online = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
pred = nn.Linear(8, 8)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
opt = torch.optim.Adam([*online.parameters(), *pred.parameters()])
for step in range(20):
    x = torch.randn(16, 8)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    z = F.normalize(pred(online(a)), dim=-1)
    with torch.no_grad():
        t = F.normalize(target(b), dim=-1)
    loss = (2 - 2 * (z * t).sum(-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()):
            p.mul_(0.99).add_(q, alpha=0.01)

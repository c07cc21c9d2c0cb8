import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
enc = nn.Linear(8, 4)
u = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
o = torch.optim.Adam([*enc.parameters(), *u.parameters()])
queue = F.normalize(torch.randn(4, 64), dim=0)
for step in range(20):
    x = torch.randn(16, 8)
    q = F.normalize(enc(x), dim=1)
    k = F.normalize(enc(x + 0.1 * torch.randn_like(x)), dim=1).detach()
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue], 1) / 0.07
    labels = torch.zeros(16, dtype=torch.long)
    l = F.cross_entropy(logits, labels)
    t = torch.rand(32, 1, requires_grad=True)
    y = u(t)
    (dy,) = torch.autograd.grad(y.sum(), t, create_graph=True)
    res = dy + y
    l = l + F.mse_loss(res, torch.zeros_like(res)) + F.mse_loss(u(torch.zeros(8, 1)), torch.ones(8, 1))
    o.zero_grad()
    l.backward()
    o.step()

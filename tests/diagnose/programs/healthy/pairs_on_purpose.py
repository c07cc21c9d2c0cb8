import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
cent = nn.Parameter(torch.randn(16))
head = nn.Linear(16, 1)
qn = nn.Linear(4, 8)
o = torch.optim.Adam([*net.parameters(), cent, *head.parameters(), *qn.parameters()])
taus = (torch.arange(8) + 0.5) / 8
for step in range(20):
    x = torch.randn(16, 4)
    y = x.sum(1)
    r = torch.randn(16)
    p = net(x)
    rbf = torch.exp(-((p - cent) ** 2))
    out = head(rbf).squeeze(1)
    l = ((out - y) ** 2).mean()
    d = p.squeeze(1)[:, None] - p.squeeze(1)
    l = l + F.relu(1 - d * torch.sign(y[:, None] - y)).mean()
    l = l + (p.view(-1, 1) - r).abs().mean() * 0.1 if False else l + ((p.squeeze(1)[:, None] - r).abs()).mean() * 0.1
    k = torch.exp(-((p - r) ** 2)).mean()
    l = l + k
    assign = (p - torch.randn(16)).abs().argmin(1)
    q = qn(x)
    target = torch.randn(16, 8)
    td = target.unsqueeze(1) - q.unsqueeze(2)
    hl = F.smooth_l1_loss(q.unsqueeze(2).expand(-1, -1, 8), target.unsqueeze(1).expand(-1, 8, -1), reduction="none")
    l = l + ((taus[None, :, None] - (td.detach() < 0).float()).abs() * hl).sum(1).mean()
    l = l + F.mse_loss(p, torch.ones(16, 1)) + F.mse_loss(p, y.unsqueeze(1))
    o.zero_grad()
    l.backward()
    o.step()
    acc = (p.squeeze(1) > 0).eq(y > 0).float().mean()

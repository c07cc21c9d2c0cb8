import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def angle(a, b):
    cos = (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1).clamp(-1, 1)
    return torch.acos(cos)  # <-- nan


net = nn.Linear(3, 3)
opt = torch.optim.Adam(net.parameters())
for step in range(10):
    x = torch.randn(8, 3)
    p = net(x)
    loss = angle(p, p.detach() if step == 6 else x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

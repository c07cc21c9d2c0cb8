import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
a, b = nn.Linear(8, 8), nn.Linear(8, 3)
oa, ob = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    h = a(x)
    if step % 2:
        F.cross_entropy(b(h.detach()), y).backward()
        ob.step()
        ob.zero_grad()
    else:
        F.cross_entropy(F.linear(h, b.weight.detach(), b.bias.detach()), y).backward()
        oa.step()
        oa.zero_grad()

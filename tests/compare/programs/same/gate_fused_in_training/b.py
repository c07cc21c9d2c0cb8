import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
D, M = 16, 40
gate, up, down = nn.Linear(D, M, bias=False), nn.Linear(D, M, bias=False), nn.Linear(M, D, bias=False)
x, y = torch.randn(3, 7, D), torch.randn(3, 7, D)
w = nn.Parameter(torch.cat([gate.weight, up.weight]).detach())
opt = torch.optim.SGD([w, *down.parameters()], 0.1, momentum=0.9)
for s in range(4):
    g, u = F.linear(x, w).chunk(2, dim=-1)
    loss = ((down(g * torch.sigmoid(g) * u) - y) ** 2).sum() / y.numel()
    opt.zero_grad()
    loss.backward()
    opt.step()

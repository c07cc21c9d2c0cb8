import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
D, M = 16, 40
gate, up, down = nn.Linear(D, M, bias=False), nn.Linear(D, M, bias=False), nn.Linear(M, D, bias=False)
x, y = torch.randn(3, 7, D), torch.randn(3, 7, D)
opt = torch.optim.SGD([*gate.parameters(), *up.parameters(), *down.parameters()], 0.1, momentum=0.9)
for s in range(4):
    loss = F.mse_loss(down(F.silu(gate(x)) * up(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

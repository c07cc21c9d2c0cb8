import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Linear(6, 2)
x = torch.randn(16, 6)
y = torch.randn(16, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # <-- update
for s in range(5):
    for g in opt.param_groups:
        g["lr"] = 0.1 * min(1.0, (s + 1) / 4)
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()

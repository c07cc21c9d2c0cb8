import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Linear(6, 2)
x = torch.randn(16, 6)
y = torch.randn(16, 2)
opt = torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.05)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
for s in range(4):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
    sched.step()

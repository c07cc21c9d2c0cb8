import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Linear(6, 2)
x = torch.randn(16, 6)
y = torch.randn(16, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # <-- update
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 4 + 1 / 3))
for s in range(5):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
    sched.step()  # <-- update

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), 5 * torch.randn(32, 3)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <-- update
    opt.step()

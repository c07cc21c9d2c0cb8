import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 5))
x, y = torch.randn(16, 12), torch.randn(16, 5)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(3):
    loss = F.mse_loss(net(x), y)  # <-- forward
    opt.zero_grad()
    loss.backward()
    opt.step()

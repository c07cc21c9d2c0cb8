import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
x, y = torch.randn(12, 3, 8, 8), torch.randn(12, 5)
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
for step in range(3):
    out = net(x)
    loss = (out - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

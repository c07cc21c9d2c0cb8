import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 64, bias=False), nn.ReLU())
opt = torch.optim.SGD(net.parameters(), lr=1e-3)


def rms(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))  # <-- nan


for step in range(6):
    x = torch.randn(64, 16)
    x[7] = 0
    loss = rms(net(x)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv1d(8, 4, 1))
x, y = torch.randn(6, 4, 10), torch.randn(6, 4, 10)
opt = torch.optim.SGD(net.parameters(), 0.05)
for _ in range(2):
    total = 0.0
    for i in range(len(x)):
        out = net(x[i : i + 1])
        total = total + (out - y[i : i + 1]).abs().mean()
    loss = total / len(x)
    opt.zero_grad()
    loss.backward()
    opt.step()

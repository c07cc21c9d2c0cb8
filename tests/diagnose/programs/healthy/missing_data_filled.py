import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(16, 16)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
t = torch.randn(256, 16)
t[torch.rand(256, 16) < 0.3] = float("nan")
mean = torch.nanmean(t, 0)
filled = torch.where(torch.isnan(t), mean.expand_as(t), t)
for step in range(6):
    x = filled[step * 32 : (step + 1) * 32]
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

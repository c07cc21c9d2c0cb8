import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(16, 64)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(6):
    p = net(torch.randn(64, 16)).sigmoid() * (torch.rand(64, 64) > 0.5)
    logs = torch.log(p)  # <-- nan
    loss = logs[p > 0].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

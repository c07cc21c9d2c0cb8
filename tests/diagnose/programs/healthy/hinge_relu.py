import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(48, 4) * 0.1
y = torch.arange(48) % 3
x[torch.arange(48), y] += 5
for step in range(40):
    s = net(x)
    m = F.relu(s - s.gather(1, y[:, None]) + 1)
    m = m * (1 - F.one_hot(y, 3))
    loss = m.sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
y = (torch.arange(48) % 2 * 2 - 1).float()
x = torch.randn(48, 4) * 0.1 + y[:, None] * 2
for step in range(40):
    loss = F.relu(1 - y[:, None] * net(x)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

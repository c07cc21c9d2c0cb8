import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
best = torch.tensor(float("inf"))
lowest = torch.full((4,), float("inf"))
highest = torch.full((4,), -torch.inf)
for step in range(20):
    x = torch.randn(16, 4)
    lowest = torch.minimum(lowest, x.min(0).values)
    highest = torch.maximum(highest, x.max(0).values)
    loss = F.mse_loss(net((x - lowest) / (highest - lowest)), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    best = torch.minimum(best, loss.detach())

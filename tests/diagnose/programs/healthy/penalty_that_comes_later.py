import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(60):
    x = torch.randn(32, 8)
    loss = F.mse_loss(net(x), x[:, :1])
    if step >= 30:
        loss = loss + 100 * sum(weight.abs().sum() for weight in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()

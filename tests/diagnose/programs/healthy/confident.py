import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=0.1)
x = torch.randn(64, 2) + torch.tensor([[5.0, 5.0]]) * (torch.arange(64) % 2 * 2 - 1)[:, None]
y = (torch.arange(64) % 2).float()[:, None]
for step in range(60):
    loss = F.binary_cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
rule = torch.randn(8, 1)
for step in range(60):
    x = torch.randn(32, 8)
    y = x @ rule * (1 if step < 30 else 100)
    loss = F.mse_loss(net(x), y)  # <-- loss_leapt
    opt.zero_grad()
    loss.backward()
    opt.step()

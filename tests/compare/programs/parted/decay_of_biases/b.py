import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))
x = torch.randn(16, 6)
y = torch.randn(16, 2)
with torch.no_grad():
    net[0].bias.add_(0.5)
    net[3].bias.add_(0.5)
opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)  # <-- update
for s in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(12, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 5))
x, y = torch.randn(16, 12), torch.randint(0, 5, (16,))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

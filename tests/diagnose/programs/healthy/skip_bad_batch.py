import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for step in range(20):
    x = torch.randn(8, 4)
    y = torch.randint(0, 2, (8,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
    opt.step()

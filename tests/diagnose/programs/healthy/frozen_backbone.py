import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
back = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
head = nn.Linear(16, 3)
for p in back.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(head.parameters())
for step in range(20):
    loss = F.cross_entropy(head(back(torch.randn(8, 8))), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
base = nn.Linear(16, 16).requires_grad_(False)
down = nn.Parameter(torch.randn(4, 16) * 0.1)
up = nn.Parameter(torch.zeros(16, 4))
opt = torch.optim.AdamW([down, up], lr=1e-3)
for step in range(60):
    x = torch.randn(32, 16)
    y = torch.randn(32, 16) * (0.2 + step / 15)
    loss = F.mse_loss(base(x) + x @ down.T @ up.T, y)
    opt.zero_grad()
    loss.backward()
    opt.step()

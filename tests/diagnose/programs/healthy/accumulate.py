import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
total, smooth, history = 0.0, None, []
for step in range(24):
    part = 0
    for micro in range(3):
        x = torch.randn(16, 8)
        y = torch.randint(0, 3, (16,))
        loss = F.cross_entropy(net(x), y) / 3
        part = part + loss
    part.backward()
    opt.step()
    opt.zero_grad()
    total += part.detach()
    smooth = part.item() if smooth is None else 0.9 * smooth + 0.1 * part.item()
    history.append(part.detach())

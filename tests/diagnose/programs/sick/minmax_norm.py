import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def scale(x):
    lo, hi = x.min(1, keepdim=True).values, x.max(1, keepdim=True).values
    return (x - lo) / (hi - lo)  # <-- nan


net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for step in range(12):
    x = torch.rand(8, 5)
    if step == 8:
        x[4] = 0.25
    loss = F.cross_entropy(net(scale(x)), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

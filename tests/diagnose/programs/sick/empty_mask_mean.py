import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def masked_loss(pred, target, mask):
    return F.mse_loss(pred[mask], target[mask])  # <-- nan


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for i in range(20):
    x = torch.randn(10, 4)
    y = x.sum(1)
    mask = torch.rand(10) > 0.5
    if i == 12:
        mask[:] = False
    loss = masked_loss(net(x).squeeze(-1), y, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()

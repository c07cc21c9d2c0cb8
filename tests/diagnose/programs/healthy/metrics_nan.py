import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5))
opt = torch.optim.Adam(net.parameters())


def per_class(pred, y):
    hit = torch.stack([((pred == c) & (y == c)).sum() for c in range(5)]).float()
    n = torch.stack([(y == c).sum() for c in range(5)]).float()
    return hit / n


for step in range(15):
    x = torch.randn(6, 4)
    y = torch.randint(0, 5, (6,))
    out = net(x)
    loss = F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    acc = per_class(out.argmax(1), y).nanmean()
net.eval()
with torch.no_grad():
    y = torch.randint(0, 3, (6,))
    print(per_class(net(torch.randn(6, 4)).argmax(1), y))

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def dice(logits, mask):
    p = torch.sigmoid(logits)
    inter = (p * mask).sum((1, 2, 3))
    return (2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)


for step in range(40):
    x = torch.randn(8, 1, 12, 12)
    m = (x > 0.5).float()
    loss = dice(net(x), m).mean()  # <-- wrong_sign
    opt.zero_grad()
    loss.backward()
    opt.step()

"""A U-Net that finds discs, with a dice loss beside the cross-entropy."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def double(i, o):
    return nn.Sequential(
        nn.Conv2d(i, o, 3, padding=1),
        nn.BatchNorm2d(o),
        nn.ReLU(inplace=True),
        nn.Conv2d(o, o, 3, padding=1),
        nn.BatchNorm2d(o),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = double(1, 8), double(8, 16), double(16, 32)
        self.up2, self.up1 = nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)
        self.u2, self.u1, self.out = double(32, 16), double(16, 8), nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        x = self.mid(F.max_pool2d(b, 2))
        x = self.u2(torch.cat([self.up2(x), b], 1))
        x = self.u1(torch.cat([self.up1(x), a], 1))
        return self.out(x)


net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
yy, xx = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
for step in range(20):
    c = torch.randint(4, 12, (8, 2, 1, 1))
    mask = (((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) < 9).float()[:, None]
    x = mask + 0.3 * torch.randn_like(mask)
    logits = net(x)
    p = logits.sigmoid()
    dice = 1 - (2 * (p * mask).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)
    loss = F.binary_cross_entropy_with_logits(logits, mask) + dice.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

"""Segmenting round cells with a tiny U-shaped net."""
import torch
from torch import nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.entry = nn.Conv2d(inp, out, 1)
        self.conv1 = nn.Conv2d(out, out, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.norm2 = nn.GroupNorm(2, out)

    def forward(self, x):
        x = self.entry(x)
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv1(x)))
        return x


class Down(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.convs = DoubleConv(inp, out)

    def forward(self, x):
        return self.convs(F.max_pool2d(x, 2))


class Up(nn.Module):
    def __init__(self, inp, skip, out):
        super().__init__()
        self.convs = DoubleConv(inp + skip, out)

    def forward(self, x, skip):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        return self.convs(torch.cat([x, skip], dim=1))


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.inc = DoubleConv(1, base)
        self.down1 = Down(base, 2 * base)
        self.down2 = Down(2 * base, 2 * base)
        self.up1 = Up(2 * base, 2 * base, base)
        self.up2 = Up(base, base, base)
        self.outc = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(a)
        c = self.down2(b)
        return self.outc(self.up2(self.up1(c, b), a))


def cells(n, side=16):
    yy, xx = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    c = torch.rand(n, 2, 1, 1) * side
    r = 2 + 3 * torch.rand(n, 1, 1)
    mask = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 < r ** 2).float().unsqueeze(1)
    return mask + 0.5 * torch.randn_like(mask), mask


def dice(logits, mask):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


torch.manual_seed(23)
unet = UNet()
opt = torch.optim.Adam(unet.parameters(), lr=3e-3)
for step in range(60):
    img, mask = cells(8)
    logits = unet(img)
    loss = F.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(f"step {step + 1}: loss {loss.item():.4f}")

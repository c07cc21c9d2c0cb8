import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvBlock(nn.Module):
    def __init__(self, inp, out, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inp, out, 3, stride=stride, padding=1)
        self.norm = nn.GroupNorm(2, out)

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), 0.1)


class Up(nn.Module):
    def __init__(self, inp, skip, out):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.block = ConvBlock(inp + skip, out)

    def forward(self, x, skip):
        x = self.up(x)
        return self.block(torch.cat([x, skip], dim=1))


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = ConvBlock(3, 8)
        self.enc2 = ConvBlock(8, 16, stride=2)
        self.enc3 = ConvBlock(16, 24, stride=2)
        self.up1 = Up(24, 16, 16)
        self.up2 = Up(16, 8, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        s1 = self.enc1(x)
        s2 = self.enc2(s1)
        y = self.enc3(s2)
        y = self.up1(y, s2)
        y = self.up2(y, s1)
        return F.softplus(self.head(y))


def scenes(n=4):
    g = torch.Generator().manual_seed(17)
    return torch.rand(n, 3, 16, 16, generator=g), torch.rand(n, 1, 16, 16, generator=g) * 3


if __name__ == "__main__":
    torch.manual_seed(8)
    net = DepthNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    images, depth = scenes()
    for step in range(2):
        loss = F.l1_loss(net(images), depth)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())

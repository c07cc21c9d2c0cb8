"""Cloud masks: a small encoder and decoder from a factory of networks."""
import torch
import torch.nn.functional as F

from zoo.factory import build


def scenes(n, size=16):
    centre = torch.rand(n, 2, 1, 1) * size
    row, col = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    mask = (((row - centre[:, 0]) ** 2 + (col - centre[:, 1]) ** 2) < 25).float().unsqueeze(1)
    x = torch.cat([1.6 * mask - 0.5, -0.8 * mask + 0.2], dim=1) + 0.9 * torch.randn(n, 2, size, size)
    return x, mask


def overlap(out, mask):
    found = (out > 0).float()
    return ((found * mask).sum() / ((found + mask) > 0).sum().clamp(min=1)).item()


def main(steps=40):
    torch.manual_seed(131)
    net = build("small_seg", channels=2, pretrained=False)
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    for step in range(1, steps + 1):
        x, mask = scenes(16)
        out = net(x)
        loss = F.binary_cross_entropy_with_logits(out, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} overlap {overlap(out, mask):.3f}")


main()

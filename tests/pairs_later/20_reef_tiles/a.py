"""Marks coral on tiles of a reef: depthwise convolutions down, a transposed one up."""

import torch
from torch import nn


class Reef(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect")
        self.norm1 = nn.GroupNorm(2, 8)
        self.depth = nn.Conv2d(8, 8, 4, stride=2, padding=1, groups=8, bias=False)
        self.point = nn.Conv2d(8, 12, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(12)
        self.up = nn.ConvTranspose2d(12, 6, 2, stride=2)
        self.leave = nn.Conv2d(6 + 8, 1, 1)

    def forward(self, x):
        skip = nn.functional.silu(self.norm1(self.enter(x)))
        x = self.point(self.depth(skip))
        x = nn.functional.hardtanh(self.norm2(x))
        x = torch.cat([self.up(x), skip], 1)
        return self.leave(x)


def tiles(step):
    g = torch.Generator().manual_seed(2000 + step)
    x = torch.rand(4, 3, 10, 10, generator=g)
    return x, (x[:, :1] > 0.6).to(x.dtype)


if __name__ == "__main__":
    torch.manual_seed(20)
    reef = Reef()
    optimizer = torch.optim.Adagrad(reef.parameters(), lr=0.02, lr_decay=0.1)
    for step in range(3):
        x, coral = tiles(step)
        loss = nn.functional.binary_cross_entropy_with_logits(reef(x), coral, pos_weight=torch.tensor(2.0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.6f}")

"""Depth of a scene point from lidar returns, mixed precision with a gradient scaler."""
import torch
from torch import nn

from lidar.amp import AmpTrainer


class PointNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, 1)

    def forward(self, cloud):
        return self.out(self.point(cloud).amax(dim=1)).squeeze(1)


def scenes(n):
    cloud = torch.randn(n, 20, 3)
    depth = cloud[..., 0].amax(1) - 1.9 + 0.5 * (cloud[..., 2].amax(1) - 1.9)
    return cloud, 1.5 * depth + 0.05 * torch.randn(n)


torch.manual_seed(121)
net = PointNet()
trainer = AmpTrainer(net, torch.optim.SGD(net.parameters(), lr=0.05), max_norm=1.0)
for step in range(1, 81):
    loss = trainer.step(*scenes(64))
    if step % 16 == 0:
        print(f"step {step} loss {loss:.4f} scale {trainer.scaler.get_scale():.0f}")

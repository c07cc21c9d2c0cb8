import torch
from torch import nn
from torch.nn import functional as F

from attack import fgsm

torch.manual_seed(0)
gen = torch.Generator().manual_seed(1)
shapes = torch.randn(5, 1, 10, 10, generator=gen)


def batch(n):
    y = torch.randint(5, (n,), generator=gen)
    return shapes[y] + 0.8 * torch.randn(n, 1, 10, 10, generator=gen), y


net = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)
)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

for step in range(1, 51):
    x, y = batch(32)
    hostile = fgsm(net, x, y, eps=0.1)
    optimizer.zero_grad()
    loss = 0.5 * F.cross_entropy(net(x), y) + 0.5 * F.cross_entropy(net(hostile), y)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        right = (net(hostile).argmax(1) == y).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} right under attack {right:.2f}")

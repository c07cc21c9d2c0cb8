"""Which bird calls in a noisy recording? Attention pooling over the frames."""
import torch
from torch import nn

from calls.pooling import AttentivePool


class CallNet(nn.Module):
    def __init__(self, bands=8, width=24, birds=4):
        super().__init__()
        self.frames = nn.Sequential(nn.Linear(bands, width), nn.ReLU(), nn.Linear(width, width))
        self.pool = AttentivePool(width)
        self.out = nn.Linear(width, birds)

    def forward(self, x):
        return self.out(self.pool(self.frames(x)))


def recordings(n, frames=15):
    y = torch.randint(0, 4, (n,))
    x = 0.8 * torch.randn(n, frames, 8)
    at = torch.randint(0, frames, (n,))
    x[torch.arange(n), at, y] += 3.0
    x[torch.arange(n), at, 4:] += 1.5
    return x, y


def train():
    torch.manual_seed(126)
    net = CallNet()
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
    for step in range(80):
        x, y = recordings(64)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 16 == 0:
            print(f"step {step + 1} loss {loss.item():.4f}")
    with torch.no_grad():
        x, y = recordings(500)
        print(f"accuracy {(net(x).argmax(1) == y).float().mean().item():.3f}")


train()

"""Letters of a sign alphabet from hand positions: plain SGD written out."""
import torch
from torch import nn
import torch.nn.functional as F


def make_net(columns, width, letters):
    return nn.Sequential(
        nn.Linear(columns, width), nn.Tanh(),
        nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, letters),
    )


def hands(n, centres):
    y = torch.randint(0, len(centres), (n,))
    return centres[y] + 0.6 * torch.randn(n, centres.shape[1]), y


@torch.no_grad()
def descend(parameters, rate):
    for p in parameters:
        p -= rate * p.grad
        p.grad = None


def learn(net, centres, rate=0.2, steps=80):
    for step in range(1, steps + 1):
        x, y = hands(64, centres)
        loss = F.cross_entropy(net(x), y, reduction="sum")
        loss.backward()
        descend(net.parameters(), rate)
        if step % 16 == 0:
            with torch.no_grad():
                x, y = hands(300, centres)
                out = net(x)
            print(f"step {step} loss {F.cross_entropy(out, y).item():.4f} "
                  f"right {(out.argmax(1) == y).float().mean().item():.3f}")


torch.manual_seed(134)
learn(make_net(10, 32, 8), torch.randn(8, 10))

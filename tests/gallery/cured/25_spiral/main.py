import math

import torch
from torch import nn


def spiral(n, arms=3, noise=0.15):
    label = torch.randint(0, arms, (n,))
    radius = torch.rand(n) * 2
    angle = radius * 2 + label * (2 * math.pi / arms) + noise * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.l1 = nn.Linear(2, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 3)

    def forward(self, x):
        x = torch.tanh(self.l1(x))
        x = torch.tanh(self.l2(x))
        return self.l3(x)


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def add(self, value):
        self.sum += value
        self.n += 1

    @property
    def mean(self):
        return self.sum / max(self.n, 1)


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    optimizer.step()
    return loss.item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(10)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(6):
        losses, accs = Meter(), Meter()
        for _ in range(20):
            x, y = spiral(64)
            loss, acc = train_step(model, optimizer, x, y)
            losses.add(loss)
            accs.add(acc)
        print(f"Epoch {epoch}: loss={losses.mean:.4f} acc={accs.mean:.3f}")


if __name__ == "__main__":
    main()

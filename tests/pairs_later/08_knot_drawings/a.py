"""Names knots from drawings of their crossings: residual blocks with dropout."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BLOCKS, RATE = 24, 3, 0.2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        y = F.gelu(self.wide(self.norm(x)))
        y = F.dropout(y, RATE, self.training)
        return x + self.narrow(y)


class Knots(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(10, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.leave = nn.Linear(WIDTH, 5)

    def forward(self, x):
        return self.leave(self.blocks(self.enter(x)))


def drawings(step):
    g = torch.Generator().manual_seed(80 + step)
    x = torch.randn(8, 10, generator=g)
    return x, x[:, :5].argmax(1)


if __name__ == "__main__":
    torch.manual_seed(88)
    model = Knots()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(89)
    for step in range(3):
        x, y = drawings(step)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.5f}")

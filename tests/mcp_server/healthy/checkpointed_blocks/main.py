"""Blocks whose activations are computed again in the backward pass: each is checkpointed, as where memory is short."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(6)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.inner(x)


class Network(nn.Module):
    def __init__(self, width=40, depth=4):
        super().__init__()
        self.begin = nn.Linear(8, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.end = nn.Linear(width, 1)

    def forward(self, x):
        x = self.begin(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.training else block(x)
        return self.end(x)


def sample(count):
    x = torch.rand(count, 8) * 2 - 1
    return x, (3 * x[:, :2].prod(1, keepdim=True) + x[:, 2:4].abs().sum(1, keepdim=True)).sub(1.0)


model = Network()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
losses = []
for step in range(100):
    model.train()
    x, y = sample(128)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 25 == 24:
        model.eval()
        with torch.no_grad():
            x, y = sample(256)
            print(f"step {step + 1} loss {losses[-1]:.4f} held out {nn.functional.smooth_l1_loss(model(x), y):.4f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")

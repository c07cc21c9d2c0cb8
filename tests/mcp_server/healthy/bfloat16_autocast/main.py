"""Two interleaved spirals: a residual network whose forward pass runs in bfloat16 by autocast on the processor."""

import math

import torch
from torch import nn

torch.manual_seed(2)


def spirals(count):
    turn = torch.rand(count, 1) * 2 * math.pi + 0.5
    label = torch.randint(0, 2, (count, 1))
    angle = turn + math.pi * label
    points = torch.cat([turn * angle.cos(), turn * angle.sin()], 1) / 4
    return points + 0.03 * torch.randn(count, 2), label.float()


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


model = nn.Sequential(nn.Linear(2, 32), Residual(32), Residual(32), Residual(32), nn.LayerNorm(32), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
losses = []
for step in range(150):
    points, labels = spirals(256)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(points)
    loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 50 == 49:
        print(f"step {step + 1} loss {losses[-1]:.4f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")

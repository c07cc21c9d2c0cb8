"""A network learns how fast sensors shake. From step 30 on its loss is NaN."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def batch(step):
    readings = torch.rand(16, 8)
    if step == 30:
        readings[5] = 0.25  # this sensor stood still
    return readings, readings.diff(dim=1).abs().mean(dim=1, keepdim=True)


def scaled(readings):
    return (readings - readings.mean(dim=1, keepdim=True)) / readings.std(dim=1, keepdim=True)


for step in range(60):
    readings, speed = batch(step)
    loss = nn.functional.mse_loss(model(scaled(readings)), speed)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:2}: loss {loss.item():.4f}")

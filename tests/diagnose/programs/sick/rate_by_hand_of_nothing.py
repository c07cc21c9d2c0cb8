"""Momentum by hand: the rate was divided by the size of the data, and once more by that of the batch."""

import torch

torch.manual_seed(0)
x = torch.randn(512, 6)
labels = (x[:, 0] * x[:, 1] > 0).long()
weights = [torch.randn(6, 24) / 2.4, torch.zeros(24), torch.randn(24, 2) / 4.9, torch.zeros(2)]
for weight in weights:
    weight.requires_grad_(True)
velocities = [torch.zeros_like(weight) for weight in weights]
rate = 0.01 / 512 / 64
for _ in range(30):
    rows = torch.randint(0, 512, (64,))
    scores = torch.tanh(x[rows] @ weights[0] + weights[1]) @ weights[2] + weights[3]
    loss = torch.nn.functional.cross_entropy(scores, labels[rows])
    loss.backward()
    with torch.no_grad():
        for weight, velocity in zip(weights, velocities, strict=True):
            velocity.mul_(0.5).sub_(weight.grad, alpha=rate)
            weight.add_(velocity)  # <-- update_ratio
            weight.grad.zero_()

"""Gradient descent by hand: the update makes a new tensor, and the second step finds no gradient."""

import torch

torch.manual_seed(0)
x = torch.randn(64, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.3
weight = torch.zeros(3, requires_grad=True)
for _ in range(4):
    loss = (x @ weight - y).pow(2).mean()
    loss.backward()
    weight = weight - 0.1 * weight.grad  # <-- missing

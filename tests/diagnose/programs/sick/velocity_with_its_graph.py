"""A velocity by hand of gradients that have graphs themselves, so that those of all steps are kept."""

import torch

torch.manual_seed(0)
weight = torch.randn(4, requires_grad=True)
velocity = torch.zeros_like(weight)
x = torch.randn(32, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 3.0])
for step in range(30):
    value = ((x @ weight - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(value, weight, create_graph=True)
    velocity = 0.9 * velocity - 0.02 * gradient  # <-- graph_kept
    with torch.no_grad():
        weight += velocity

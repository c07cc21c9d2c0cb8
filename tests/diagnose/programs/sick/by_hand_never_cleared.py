"""A loop without an optimizer that never clears the gradients."""

import torch

torch.manual_seed(0)
w = torch.randn(8, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for step in range(30):
    x = torch.randn(32, 8)
    y = x.sum(1, keepdim=True)
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()  # <-- zero_grad
    with torch.no_grad():
        w -= 0.01 * w.grad
        b -= 0.01 * b.grad

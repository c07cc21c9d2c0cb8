"""An optimisation whose iterates are results, and keep their gradients by retain_grad."""

import torch

w = torch.ones(3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])
for _ in range(3):
    (w * x - 1).pow(2).sum().backward(retain_graph=True)
    w = w - 0.01 * w.grad
    w.retain_grad()
(w * x).sum().backward()
print(w.grad)

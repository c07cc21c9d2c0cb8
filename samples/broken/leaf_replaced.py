"""A gradient that is None in the second step: the update made a new tensor in the place of the leaf."""

import torch

w = torch.ones(3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])
for step in range(2):
    loss = (w * x).sum()
    loss.backward()
    if w.grad is None:
        print("step", step, "has no gradient")
        break
    w = w - 0.1 * w.grad

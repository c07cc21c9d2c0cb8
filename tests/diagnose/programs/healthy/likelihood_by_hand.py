"""A likelihood is made larger by hand: its negative is no loss, and what it ascends is no error."""

import torch

torch.manual_seed(0)
x = torch.randn(128, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 3.0])
weight = torch.zeros(4).requires_grad_()
for _ in range(40):
    likelihood = -((x @ weight - y) ** 2).mean()
    likelihood.backward()
    with torch.no_grad():
        weight += 0.1 * weight.grad
    weight.grad.zero_()

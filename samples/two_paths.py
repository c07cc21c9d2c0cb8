"""A number that is used twice: its gradient is the sum over both ways."""

import graphscope as torch

x = torch.tensor(3.0, requires_grad=True)
a = 2 * x
b = x**2
c = a * b
c.backward()

print("c      =", c.item())
print("x.grad =", x.grad.item())

# Look at what arrives from either way (`b name:x backward`, then `c` and `p value` at both stops).
print("Question: c is 2x³, so x.grad is 6x² = 54. How much of it came by way of a, and how much by way of b?")

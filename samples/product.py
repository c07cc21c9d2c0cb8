"""The smallest graph: one product, two gradients."""

import graphscope as torch

a = torch.tensor(15.0, requires_grad=True)
b = torch.tensor(20.0, requires_grad=True)
c = a * b
c.backward()

print("c      =", c.item())
print("a.grad =", a.grad.item())
print("b.grad =", b.grad.item())

# Stop where the rule of the product is due (`b op:mul backward`) and look at it (`formula`, `p grad`, `s`).
print("Question: a is 15 and b is 20. Why is a.grad 20 and b.grad 15?")

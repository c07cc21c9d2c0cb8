"""The chain rule with two links: y = 2x + 3, z = 4y - 1."""

import graphscope as torch

x = torch.tensor(5.0, requires_grad=True)
y = 2 * x + 3
z = 4 * y - 1
z.backward()

print("y      =", y.item())
print("z      =", z.item())
print("x.grad =", x.grad.item())

# Walk backward through z (`b backward`, then `n` and `p grad` at every node).
print("Question: x.grad is 8. At which node does the gradient become 4, and at which 8?")

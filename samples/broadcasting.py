"""Broadcasting and its undoing: two numbers scale three rows, and their gradients are sums over these rows."""

import graphscope as torch

x = torch.tensor(
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    requires_grad=True,
)
scale = torch.tensor([10.0, 100.0], requires_grad=True)
y = x * scale
total = y.sum()
total.backward()

print("total      =", total.item())
print("x.grad     =", x.grad.tolist())
print("scale.grad =", scale.grad.tolist())

# Stop where the rule of the product is due (`b op:mul backward`), and look at both shapes (`formula`, `n`, `p value`).
print("Question: a gradient of 3 x 2 numbers arrives at the product. Why has scale.grad just 2?")

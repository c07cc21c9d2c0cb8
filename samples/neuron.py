"""One neuron and its loss: the chain rule is a product of local derivatives, one for each edge."""

import graphscope as torch

x = torch.tensor(2.0)
w = torch.tensor(1.5, requires_grad=True)
b = torch.tensor(-3.0, requires_grad=True)

m = w * x
s = m + b
p = s.sigmoid()
error = p - 1.0
loss = error**2
loss.backward()

print("p      =", p.item())
print("loss   =", loss.item())
print("w.grad =", w.grad.item())
print("b.grad =", b.grad.item())

# Walk backward from the loss (`b backward`, then `n`, `formula` and `p grad` at every node).
print("Question: w.grad is -0.5, and so is the error. Which factors lie between them, and why do they come to 1?")

"""`no_grad` as a context and as a decorator: what is computed there has no past."""

import graphscope as torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x = torch.tensor([4.0, 5.0, 6.0])


@torch.no_grad()
def penalty(weights):
    return (weights * weights).sum()


with torch.no_grad():
    target = (w * x).mean()

prediction = (w * x).sum()
loss = (prediction - target) * 2.0 + penalty(w)
loss.backward()

print("prediction needs a gradient:", prediction.requires_grad)
print("target needs a gradient:    ", target.requires_grad)
print("w.grad =", w.grad.tolist())

# The forward pass has the nodes of `penalty` (`nodes forward`), the backward pass has none for them (`nodes backward`).
print("Question: the loss has a penalty on w in it. Why is w.grad just 2x?")

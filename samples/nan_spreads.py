"""A NaN that the loss does not show: it is born in backward, and one update later everything is NaN."""

import graphscope as torch

x = torch.tensor([2.0, 8.0, 0.0])
keep = torch.tensor([1.0, 1.0, 0.0])
w = torch.tensor(2.0, requires_grad=True)

inside = w * x
root = inside.sqrt()
kept = root * keep
loss = kept.sum()
loss.backward()

with torch.no_grad():
    updated = w - w.grad
    after = (updated * x).sqrt()

print("loss   =", loss.item())
print("w.grad =", w.grad.item())
print("after  =", after.tolist())

# `graphscope doctor` of this program says where it is born, and what to do.
print("Question: the third number is not even in the loss. How does it make w NaN?")

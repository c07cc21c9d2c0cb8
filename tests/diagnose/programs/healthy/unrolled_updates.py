"""Meta-learning by hand: the inner steps put results in the place of the weights, and their graphs are wanted."""

import torch

torch.manual_seed(0)
meta = torch.randn(3, requires_grad=True)


def error(w):
    return ((torch.randn(3) * w).sum() - 1).pow(2)


for _ in range(3):
    w = meta
    for _ in range(2):
        (gradient,) = torch.autograd.grad(error(w), w, create_graph=True)
        w = w - 0.1 * gradient
    error(w).backward()
    with torch.no_grad():
        meta -= 0.1 * meta.grad
        meta.grad = None

w = torch.randn(3, requires_grad=True)
error(w).backward()
fast = w - 0.1 * w.grad  # of first order
w.grad = None
error(fast).backward()
print(w.grad)

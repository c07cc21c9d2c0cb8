"""Gradient descent by hand, where each update makes a new leaf: in the ways in which people write that."""

import torch

x = torch.tensor([1.0, 2.0, 3.0])


def backward(w):
    (w * x - 1).pow(2).sum().backward()
    return w.grad


w = torch.ones(3, requires_grad=True)
for _ in range(3):
    w = (w - 0.01 * backward(w)).detach().requires_grad_()
for _ in range(3):
    backward(w)
    w = w - 0.01 * w.grad
    w = w.detach().requires_grad_(True)
for _ in range(3):
    backward(w)
    w = w - 0.01 * w.grad
    w = w.data
    w.requires_grad = True
for _ in range(3):
    backward(w)
    with torch.no_grad():
        w = w - 0.01 * w.grad
    w.requires_grad_()

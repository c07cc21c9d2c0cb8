"""Gradients that explode: a recurrent weight of norm above 1 is applied fifty times."""

import torch

w = torch.eye(3).mul(9.0).requires_grad_()
h = torch.ones(3)
for _ in range(50):
    h = w @ h
loss = h.sum()
loss.backward()
print(w.grad)

"""Gradients that explode: a recurrent weight of norm above 1 is applied fifty times."""

import torch

w = torch.full((3, 3), 3.0, requires_grad=True)
h = torch.ones(3)
for _ in range(50):
    h = w @ h
loss = h.sum()
loss.backward()
print(w.grad)

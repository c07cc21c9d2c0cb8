"""NaN gradients: the distance of two equal points is 0, and the derivative of sqrt at 0 is infinite."""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 2.0])
difference = a - b
distance = difference.pow(2).sum().sqrt()
distance.backward()
print(a.grad)

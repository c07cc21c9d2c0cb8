"""An infinite loss: a probability became exactly 0 before its logarithm was taken."""

import torch

logits = torch.tensor([[200.0, -200.0]], requires_grad=True)
probability = torch.softmax(logits, dim=1)
loss = -torch.log(probability)[0, 1]
loss.backward()
print(loss.item(), logits.grad)

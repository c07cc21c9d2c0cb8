"""Updates into `.data`, of parameters of which one is cleared once."""

import torch

torch.manual_seed(0)
w1 = (torch.randn(8, 16) * 0.3).requires_grad_()
w2 = (torch.randn(16, 1) * 0.3).requires_grad_()
params = [w1, w2]
for step in range(30):
    x = torch.randn(32, 8)
    loss = ((torch.tanh(x @ w1) @ w2 - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()  # <-- zero_grad
    for p in params:
        p.data -= 0.01 * p.grad.data
    if step == 0:
        w1.grad.zero_()

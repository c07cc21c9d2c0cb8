"""Updates by hand into `.data`, with gradients on, and the gradients cleared."""

import torch

torch.manual_seed(0)
w1 = (torch.randn(8, 16) * 0.3).requires_grad_()
w2 = (torch.randn(16, 1) * 0.3).requires_grad_()
for step in range(30):
    x = torch.randn(32, 8)
    loss = ((torch.tanh(x @ w1) @ w2 - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    for p in (w1, w2):
        p.data -= 0.01 * p.grad.data
        p.grad.data.zero_()

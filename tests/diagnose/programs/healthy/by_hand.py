"""A training loop without an optimizer: parameters and gradients are written by hand; beside it, one with several."""

import torch

weight = torch.randn(4, 1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
scale = torch.nn.Parameter(torch.ones(1))
optimizers = [torch.optim.SGD([scale], lr=0.01), torch.optim.Adam([bias], lr=0.01)]
for _ in range(15):
    x = torch.randn(16, 4)
    loss = ((x @ weight + bias) * scale - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    with torch.no_grad():
        weight -= 0.05 * weight.grad
        weight.grad.zero_()
    for each in optimizers:
        each.step()
        each.zero_grad()

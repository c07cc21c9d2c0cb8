"""Velocities, means of gradients and of losses, and averages of weights, all carried by hand: none has a graph."""

import torch

torch.manual_seed(0)
weight = torch.randn(4, requires_grad=True)
velocity = torch.zeros_like(weight)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
parameters = list(net.parameters())
means = [torch.zeros_like(each) for each in parameters]
squares = [torch.zeros_like(each) for each in parameters]
averages = [each.detach().clone() for each in parameters]
x = torch.randn(32, 4)
y, z = x @ torch.tensor([1.0, -2.0, 0.5, 3.0]), x.sum(1, keepdim=True).sin()
running = torch.zeros(())
for step in range(1, 31):
    value = ((x @ weight - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(value, weight)
    velocity = 0.9 * velocity - 0.02 * gradient
    with torch.no_grad():
        weight += velocity

    loss = ((net(x) - z) ** 2).mean()
    for at, (each, own) in enumerate(zip(parameters, torch.autograd.grad(loss, parameters), strict=True)):
        means[at] = 0.9 * means[at] + 0.1 * own
        squares[at] = 0.99 * squares[at] + 0.01 * own * own
        with torch.no_grad():
            each -= 0.02 * (means[at] / (1 - 0.9**step)) / ((squares[at] / (1 - 0.99**step)).sqrt() + 1e-8)
    averages = [0.99 * old + 0.01 * each.detach() for old, each in zip(averages, parameters, strict=True)]
    running = 0.9 * running + 0.1 * loss.detach()

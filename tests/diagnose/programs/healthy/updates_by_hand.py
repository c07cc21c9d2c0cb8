"""Weights are updated by hand, and gradients cleared by hand."""

import torch


def descend(weights, rate):
    with torch.no_grad():
        for weight in weights:
            weight -= rate * weight.grad
            weight.grad = None


torch.manual_seed(0)
x = torch.randn(256, 8)
y = x @ torch.randn(8, 1) + 0.1 * torch.randn(256, 1)
hidden, hidden_bias = (torch.randn(8, 16) / 3).requires_grad_(), torch.zeros(16, requires_grad=True)
output, output_bias = (torch.randn(16, 1) / 4).requires_grad_(), torch.zeros(1, requires_grad=True)
for _ in range(30):
    predicted = torch.tanh(x @ hidden + hidden_bias) @ output + output_bias
    loss = ((predicted - y) ** 2).mean()
    loss.backward()
    descend([hidden, hidden_bias, output, output_bias], 0.02)

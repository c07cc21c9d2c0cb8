"""The tide net without torch.nn, with the update rule of the old Keras script."""

import torch

from a import build, tides

MOMENTUM = 0.9


def rate(epoch):
    return 0.1 if epoch < 4 else 0.01


def predict(w, x):
    h = torch.tanh(x @ w[0] + w[1])
    h = torch.tanh(h @ w[2] + w[3])
    return h @ w[4] + w[5]


layers = [m for m in build() if hasattr(m, "weight")]
weights = []
for layer in layers:
    weights.append(layer.weight.detach().t().clone().requires_grad_())
    weights.append(layer.bias.detach().clone().requires_grad_())
velocity = [torch.zeros_like(w) for w in weights]

x, y = tides()
for epoch in range(7):
    loss = ((predict(weights, x) - y) ** 2).mean()
    grads = torch.autograd.grad(loss, weights)
    lr = rate(epoch)
    with torch.no_grad():
        for w, v, g in zip(weights, velocity, grads):
            v.mul_(MOMENTUM).sub_(lr * g)
            w.add_(v)
    print(epoch, loss.item())

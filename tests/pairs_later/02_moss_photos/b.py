"""The coverage network with patches and matrix products, as it runs on the camera."""

import torch
import torch.nn.functional as F
from a import CoverageNet, photos

torch.manual_seed(3)
state = {name: p.detach().clone().requires_grad_() for name, p in CoverageNet().named_parameters()}


def conv(x, weight, bias, stride=1, padding=0):
    columns = F.unfold(x, weight.shape[-1], stride=stride, padding=padding)
    out = weight.flatten(1) @ columns + bias[:, None]
    side = (x.shape[-1] + 2 * padding - weight.shape[-1]) // stride + 1
    return out.view(len(x), len(weight), side, side)


def average(x, size, stride, padding):
    batch, channels, height, _ = x.shape
    columns = F.unfold(x, size, stride=stride, padding=padding)
    inside = F.unfold(torch.ones_like(x[:1, :1]), size, stride=stride, padding=padding)
    sums = columns.view(batch, channels, size * size, -1).sum(2)
    side = (height + 2 * padding - size) // stride + 1
    return (sums / inside.sum(1)).view(batch, channels, side, side)


def coverage(x):
    x = conv(x, state["conv1.weight"], state["conv1.bias"], padding=1).tanh()
    x = average(x, 3, stride=2, padding=1)
    x = conv(x, state["conv2.weight"], state["conv2.bias"], stride=2).clamp(min=0)
    return x.reshape(len(x), -1) @ state["head.weight"].T + state["head.bias"]


velocity = {name: torch.zeros_like(p) for name, p in state.items()}
for step in range(4):
    x, y = photos(step)
    loss = ((coverage(x) - y) ** 2).mean()
    for p in state.values():
        p.grad = None
    loss.backward()
    with torch.no_grad():
        for name, p in state.items():
            velocity[name] = 0.9 * velocity[name] + p.grad
            p -= 0.05 * velocity[name]
    print(step, loss.item())

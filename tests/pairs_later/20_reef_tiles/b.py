"""The reef with products over patches, channels last."""

import torch
import torch.nn.functional as F
from a import Reef, tiles

torch.manual_seed(20)
w = {name: p.detach().clone().requires_grad_() for name, p in Reef().named_parameters()}


def patches(x, size, stride):
    """(batch, height, width, channels) to (batch, rows, columns, channels, size, size)"""
    return x.unfold(1, size, stride).unfold(2, size, stride)


def standard(x, dims):
    variance, mean = torch.var_mean(x, dims, unbiased=False, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-5)


def reef(images):
    x = F.pad(images, (1, 1, 1, 1), mode="reflect").permute(0, 2, 3, 1)
    x = torch.einsum("bijckl,ockl->bijo", patches(x, 3, 1), w["enter.weight"]) + w["enter.bias"]
    x = standard(x.unflatten(-1, (2, 4)), (1, 2, 4)).flatten(3)
    x = x * w["norm1.weight"] + w["norm1.bias"]
    skip = x * x.sigmoid()
    x = F.pad(skip, (0, 0, 1, 1, 1, 1))
    x = (patches(x, 4, 2) * w["depth.weight"][:, 0]).sum((-2, -1))
    x = x @ w["point.weight"].flatten(1).T
    x = standard(x, (0, 1, 2)) * w["norm2.weight"] + w["norm2.bias"]
    x = x.clamp(-1, 1)
    x = torch.einsum("bijc,cokl->bikjlo", x, w["up.weight"])
    x = x.flatten(3, 4).flatten(1, 2) + w["up.bias"]
    leave = w["leave.weight"].flatten()
    return x @ leave[:6] + skip @ leave[6:] + w["leave.bias"]


sums = {name: torch.zeros_like(p) for name, p in w.items()}
for step in range(3):
    x, coral = tiles(step)
    z, y = reef(x), coral[:, 0]
    loss = -(2 * y * F.logsigmoid(z) + (1 - y) * F.logsigmoid(-z)).mean()
    grads = dict(zip(w, torch.autograd.grad(loss, list(w.values()))))
    rate = 0.02 / (1 + 0.1 * step)
    with torch.no_grad():
        for name, p in w.items():
            sums[name] += grads[name] ** 2
            p -= rate * grads[name] / (sums[name].sqrt() + 1e-10)
    print(f"{step} {loss.item():.6f}")

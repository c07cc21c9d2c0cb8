"""Kinds of ore along a drill core with shifts and sums, and a loss as in the thesis."""

import math

import torch
from a import KINDS, Core, cores

torch.manual_seed(24)
w = {name: p.detach().clone().requires_grad_() for name, p in Core().named_parameters()}
share = torch.tensor([1.0, 2.0, 0.5, 1.5])


def shifted(x, by):
    """Rows of (batch, time, channels) from `by` places later, zeros beyond the ends."""
    rows = [t + by for t in range(x.shape[1])]
    empty = torch.zeros_like(x[:, 0])
    return torch.stack([x[:, t] if 0 <= t < x.shape[1] else empty for t in rows], 1)


def conv(x, name, dilation):
    parts = [shifted(x, dilation * (k - 1)) @ w[f"{name}.weight"][:, :, k].T for k in range(3)]
    return sum(parts) + w[f"{name}.bias"]


def elu(x):
    return torch.where(x > 0, x, torch.expm1(x.clamp(max=0)))


def scores(stones):
    x = w["stone.weight"][stones].sum(2)
    x = elu(conv(x, "near", 1))
    x = x + elu(conv(x, "far", 2))
    x = x - x.mean(1, keepdim=True)
    x = x * (x.square().mean(1, keepdim=True) + 1e-5) ** -0.5
    x = x * w["norm.weight"] + w["norm.bias"]
    windows = torch.nn.functional.pad(x, (0, 0, 1, 1), value=-math.inf).unfold(1, 3, 1)
    return windows.max(-1).values @ w["kind.weight"][:, :, 0].T + w["kind.bias"]


def ore_loss(z, kinds, smoothing=0.1):
    known = kinds >= 0
    z, kinds = z[known], kinds[known]
    log_p = z - torch.logsumexp(z, 1, keepdim=True)
    target = torch.full_like(log_p, smoothing / KINDS)
    target[torch.arange(len(kinds)), kinds] += 1 - smoothing
    return -(target * share * log_p).sum() / share[kinds].sum()


state = {name: [torch.zeros_like(p) for _ in range(3)] for name, p in w.items()}
for step in range(4):
    stones, kinds = cores(step)
    loss = ore_loss(scores(stones), kinds)
    loss.backward()
    rate = 5e-3 * (1 + math.cos(math.pi * step / 4)) / 2
    with torch.no_grad():
        for name, p in w.items():
            m, v, top = state[name]
            grad = p.grad + 0.01 * p
            m += 0.1 * (grad - m)
            v.copy_(0.999 * v + 0.001 * grad * grad)
            torch.maximum(top, v, out=top)
            bottom = top.sqrt() / math.sqrt(1 - 0.999 ** (step + 1)) + 1e-5
            p -= rate / (1 - 0.9 ** (step + 1)) * m / bottom
            p.grad = None
    print(f"{step} {loss.item():.6f}")

"""Ice reports, one report at a time without padding; everything by hand."""

import math

import torch
from a import HEADS, WIDTH, Reports, reports

torch.manual_seed(18)
P = {name: p.detach().clone().requires_grad_() for name, p in Reports().named_parameters()}
HEAD = WIDTH // HEADS


def norm(x, name):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * P[f"{name}.weight"] + P[f"{name}.bias"]


def attention(x, name):
    weight = P[f"{name}.in_proj_weight"].view(3, HEADS, HEAD, WIDTH)
    bias = P[f"{name}.in_proj_bias"].view(3, HEADS, 1, HEAD)
    q, k, v = torch.einsum("shdw,tw->shtd", weight, x) + bias
    shares = torch.exp(q @ k.transpose(1, 2) / math.sqrt(HEAD))
    shares = shares / shares.sum(-1, keepdim=True)
    out = P[f"{name}.out_proj.weight"].view(WIDTH, HEADS, HEAD)
    return torch.einsum("hij,hjd,whd->iw", shares, v, out) + P[f"{name}.out_proj.bias"]


def layer(x, name):
    x = norm(attention(x, f"{name}.self_attn") + x, f"{name}.norm1")
    y = x @ P[f"{name}.linear1.weight"].T + P[f"{name}.linear1.bias"]
    y = y * 0.5 * (1 + torch.erf(y / math.sqrt(2)))
    y = y @ P[f"{name}.linear2.weight"].T + P[f"{name}.linear2.bias"]
    return norm(y + x, f"{name}.norm2")


def scores(report):
    ids = report[report != 0]
    x = P["words.weight"][ids] + P["places"][: len(ids)]
    for n in range(2):
        x = layer(x, f"encoder.layers.{n}")
    return P["classes.weight"] @ x.max(0).values + P["classes.bias"]


def adamw(t, lr=2e-3, decay=0.1, b1=0.9, b2=0.999, eps=1e-6):
    for name, p in P.items():
        first, second = moments[name]
        p.mul_(1 - lr * decay)
        first.lerp_(p.grad, 1 - b1)
        second.lerp_(p.grad.square(), 1 - b2)
        p.sub_(lr * (first / (1 - b1**t)) / ((second / (1 - b2**t)).sqrt() + eps))
        p.grad = None


moments = {name: (torch.zeros_like(p), torch.zeros_like(p)) for name, p in P.items()}
for step in range(3):
    loss = 0
    batch, labels = reports(step)
    for report, label in zip(batch, labels):
        s = scores(report)
        loss = loss + (s.logsumexp(0) - s[label]) / len(batch)
    loss.backward()
    with torch.no_grad():
        adamw(step + 1)
    print(f"{step} {loss.item():.6f}")

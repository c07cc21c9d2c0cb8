"""The knots in less memory: blocks are computed again in the backward pass."""

import torch
import torch.nn.functional as F
from a import BLOCKS, RATE, WIDTH, Knots, drawings
from torch.utils.checkpoint import checkpoint

torch.manual_seed(88)
p = {name: value.detach().clone().requires_grad_() for name, value in Knots().named_parameters()}


def block(x, n):
    own = {name.split(".", 2)[2]: value for name, value in p.items() if name.startswith(f"blocks.{n}.")}
    y = F.layer_norm(x, (WIDTH,), own["norm.weight"], own["norm.bias"])
    y = torch.addmm(own["wide.bias"], y, own["wide.weight"].t())
    y = F.dropout(0.5 * y * (1 + torch.erf(y / 2**0.5)), RATE, training=True)
    return torch.addmm(own["narrow.bias"], y, own["narrow.weight"].t()) + x


def knots(x):
    x = torch.addmm(p["enter.bias"], x, p["enter.weight"].t())
    for n in range(BLOCKS):
        x = checkpoint(block, x, n, use_reentrant=False, preserve_rng_state=False)
    return torch.addmm(p["leave.bias"], x, p["leave.weight"].t())


torch.manual_seed(89)
for step in range(3):
    x, y = drawings(step)
    loss = F.nll_loss(F.log_softmax(knots(x), dim=1), y)
    loss.backward()
    with torch.no_grad():
        for value in p.values():
            value -= 0.1 * value.grad
            value.grad = None
    print(f"{loss.item():.5f}")

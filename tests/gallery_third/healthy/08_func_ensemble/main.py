"""Eight small nets at once with torch.func; the update is a pure function."""
import copy

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(8)


def net():
    return nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


members = [net() for _ in range(8)]
params, buffers = stack_module_state(members)
skeleton = copy.deepcopy(members[0]).to("meta")


def loss_fn(p, b, x, y):
    out = functional_call(skeleton, (p, b), (x,)).squeeze(-1)
    return nn.functional.mse_loss(out, y)


all_grads = vmap(grad_and_value(loss_fn), in_dims=(0, 0, 0, 0))


def update(p, g, velocity, lr=0.05, momentum=0.9):
    velocity = {k: momentum * velocity[k] + g[k] for k in p}
    return {k: p[k].detach() - lr * velocity[k] for k in p}, velocity


velocity = {k: torch.zeros_like(v) for k, v in params.items()}
for step in range(1, 101):
    x = 2 * torch.rand(8, 64, 2) - 1
    y = torch.sin(3 * x[..., 0]) * x[..., 1]
    grads, losses = all_grads(params, buffers, x, y)
    params, velocity = update(params, grads, velocity)
    if step % 20 == 0:
        print(f"{step} mean loss {losses.mean().item():.4f} worst {losses.max().item():.4f}")

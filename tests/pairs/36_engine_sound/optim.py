import math

import torch


class Nesterov(torch.optim.Optimizer):
    def __init__(self, params, lr, mu, decay):
        super().__init__(params, {"lr": lr, "mu": mu, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad + group["decay"] * p
                state = self.state[p]
                v = state["v"] = g if not state else group["mu"] * state["v"] + g
                p -= group["lr"] * (g + group["mu"] * v)


def cosine(step, total):
    return 0.5 * (1 + math.cos(math.pi * step / total))


def shrink(params, limit):
    total = torch.sqrt(sum((p.grad**2).sum() for p in params))
    if total > limit:
        for p in params:
            p.grad *= limit / (total + 1e-6)

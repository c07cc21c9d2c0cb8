"""Fits lenses with the gradient of each lens clipped for itself, one lens after another."""

import torch
from torch import nn

LENSES, LIMIT, RATE = 7, 0.6, 0.1


class Lens(nn.Module):
    def __init__(self):
        super().__init__()
        self.surface = nn.Linear(6, 11)
        self.glass = nn.Linear(3, 11)
        self.focus = nn.Linear(11, 2)

    def forward(self, curve, glass):
        x = torch.tanh(self.surface(curve)) * nn.functional.softplus(self.glass(glass))
        return self.focus(x)


def lenses(step):
    g = torch.Generator().manual_seed(220 + step)
    curve = torch.randn(LENSES, 6, generator=g)
    glass = torch.rand(LENSES, 3, generator=g)
    return curve, glass, torch.stack([curve[:, 0] * glass[:, 0], curve.sum(1) / 6], 1)


if __name__ == "__main__":
    torch.manual_seed(22)
    model = Lens()
    for step in range(3):
        total = 0.0
        sums = [torch.zeros_like(p) for p in model.parameters()]
        for curve, glass, truth in zip(*lenses(step)):
            loss = (model(curve[None], glass[None])[0] - truth).square().sum()
            model.zero_grad()
            loss.backward()
            grads = [p.grad for p in model.parameters()]
            norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads]))
            scale = (LIMIT / norm).clamp(max=1.0)
            for total_grad, grad in zip(sums, grads):
                total_grad += scale * grad
            total += loss.item() / LENSES
        with torch.no_grad():
            for p, grad in zip(model.parameters(), sums):
                p -= RATE * grad / LENSES
        print(step, f"{total:.6f}")

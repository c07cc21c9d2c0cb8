"""Model-agnostic meta-learning of sine waves with second derivatives."""
import torch
from torch import nn
from torch.func import functional_call


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def sine_task():
    amp, phase = 0.5 + 2 * torch.rand(1), 3.14 * torch.rand(1)

    def draw(n):
        x = torch.rand(n, 1) * 6 - 3
        return x, amp * torch.sin(x + phase)
    return draw


def adapt(model, params, x, y, lr=0.05):
    loss = nn.functional.mse_loss(functional_call(model, params, (x,)), y)
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
    return {k: p - lr * g for (k, p), g in zip(params.items(), grads)}


torch.manual_seed(18)
model = Regressor()
meta = torch.optim.Adam(model.parameters(), lr=5e-3)
for it in range(50):
    outer = 0.0
    for _ in range(4):
        draw = sine_task()
        fast = adapt(model, dict(model.named_parameters()), *draw(10))
        x, y = draw(10)
        outer = outer + nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
    outer = outer / 4
    meta.zero_grad()
    outer.backward()
    meta.step()
    if it % 10 == 9:
        print(f"meta step {it + 1}: loss after adaptation {outer.item():.4f}")
